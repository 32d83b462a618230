#!/usr/bin/env bash
# nginx over HTTP and HTTPS: nginx.sh up|down DIR. Environment: WWW: the folder of static files to serve (a bucket is a folder in
# it); PROXY: in place of it the server that everything goes on to ("http://127.0.0.1:1234", TLS in front of an S3 server);
# WORKERS (default: one a CPU). RULES: lines of nginx for the static server (a location that answers any name with one file). Besides, HTTPS with a certificate that expired in 2020.
NAME=nginx
. "$(dirname "$(readlink -f "$0")")/lib.sh"

need() { need_command nginx nginx-light; need_command openssl openssl; need_command curl curl; need_command ss iproute2; }
start() {
  local http https expired where
  http=$(free_port); https=$(free_port); expired=$(free_port)
  mkdir "$DIR/tmp"
  certificate "$DIR/valid" 30
  certificate "$DIR/expired" -1
  if [ -n "${PROXY:-}" ]; then
    # The signature covers the Host header: it stays as the client sent it.
    where="location / { proxy_pass $PROXY; proxy_http_version 1.1; proxy_set_header Host \$http_host; proxy_set_header Connection ''; proxy_request_buffering off; proxy_buffering off; }"
  else
    where="root $(realpath "${WWW:?WWW or PROXY must be given}"); etag on; ${RULES:-}"
  fi
  cat >"$DIR/nginx.conf" <<CONF
daemon off;
user $(id -un) $(id -gn);
worker_processes ${WORKERS:-auto};
pid $DIR/nginx.master;
error_log $DIR/nginx.log warn;
events { worker_connections 4096; }
http {
  access_log off;
  sendfile on; tcp_nopush on; tcp_nodelay on;
  keepalive_requests 1000000;
  client_max_body_size 0;
  default_type application/octet-stream;
  client_body_temp_path $DIR/tmp/body; proxy_temp_path $DIR/tmp/proxy; fastcgi_temp_path $DIR/tmp/fcgi;
  uwsgi_temp_path $DIR/tmp/uwsgi; scgi_temp_path $DIR/tmp/scgi;
  server {
    listen 127.0.0.1:$http reuseport backlog=4096;
    listen 127.0.0.1:$https ssl reuseport backlog=4096;
    ssl_certificate $DIR/valid.pem; ssl_certificate_key $DIR/valid.key;
    $where
  }
  server {
    listen 127.0.0.1:$expired ssl;
    ssl_certificate $DIR/expired.pem; ssl_certificate_key $DIR/expired.key;
    $where
  }
}
CONF
  nginx -t -q -e "$DIR/nginx.log" -c "$DIR/nginx.conf"
  launch nginx nginx -e "$DIR/nginx.log" -c "$DIR/nginx.conf"
  emit ENDPOINT "http://127.0.0.1:$http"
  emit ENDPOINT_TLS "https://127.0.0.1:$https"
  emit CA_CERT "$DIR/valid.pem"
  emit ENDPOINT_EXPIRED "https://127.0.0.1:$expired"
  emit CA_CERT_EXPIRED "$DIR/expired.pem"
  wait_for 10 nginx "it answered" answers
  local i=0 pid
  for pid in $(cat "/proc/$(pid_of nginx)/task/$(pid_of nginx)/children"); do record "worker$i" "$pid"; i=$((i + 1)); done
}
answers() { curl -s -o /dev/null --max-time 5 "$(value ENDPOINT)/"; }
stop() { # workers outlive a master that was killed
  local file
  stop_process nginx
  for file in "$DIR"/worker*.pid; do [ ! -e "$file" ] || stop_process "$(basename "$file" .pid)" 5; done
}
main "$@"
