// What Redis carries out atomically: conditional batches, and a page of a scan.
//
// Thread: any; constants. Owner: none. Units: none. Errors: none here. Source: Redis 7.0, EVAL; the struct library of
// its Lua. Layout: a hash holds key -> value, a sorted set of equal scores holds the keys in order.
#pragma once

namespace feedbench::feedfs {

// KEYS: hash, sorted set, what this client was last told. ARGV: the client's call number, how many batches, then of
// each batch how many conditions and changes it has, and of each of those kind, key, value (kinds: first letters of
// engine.hpp's names; range_empty and erase_range: r, add: d, raise: m). Answers, for each batch, 0 or the number of
// the condition that failed, from 1 on, separated by spaces. A call that comes again with its number (the connection
// broke before the answer came) is answered as before and changes nothing.
inline constexpr char kApplyScript[] = R"lua(
local kv, index, told = KEYS[1], KEYS[2], KEYS[3]
local before = redis.call('GET', told)
if before then
  local number, answer = string.match(before, '^(%d+) (.*)$')
  if number == ARGV[1] then return answer end
end
local function upper(to) if to == '' then return '+' end return '(' .. to end
local function holds(kind, key, value)
  if kind == 'r' then return #redis.call('ZRANGEBYLEX', index, '[' .. key, upper(value), 'LIMIT', 0, 1) == 0 end
  local found = redis.call('HGET', kv, key)
  if kind == 'a' then return not found end
  if kind == 'p' then return found ~= false end
  return found == value
end
local function put(key, value)
  if redis.call('HSET', kv, key, value) == 1 then redis.call('ZADD', index, 0, key) end
end
local function make(kind, key, value)
  if kind == 'p' then
    put(key, value)
  elseif kind == 'e' then
    if redis.call('HDEL', kv, key) == 1 then redis.call('ZREM', index, key) end
  elseif kind == 'r' then
    while true do
      local keys = redis.call('ZRANGEBYLEX', index, '[' .. key, upper(value), 'LIMIT', 0, 1000)
      if #keys == 0 then break end
      redis.call('HDEL', kv, unpack(keys))
      redis.call('ZREM', index, unpack(keys))
    end
  else
    local old = redis.call('HGET', kv, key) or ''
    local sums = {}
    for i = 1, math.max(#old, #value) - 7, 8 do
      local a = i + 7 <= #old and struct.unpack('<i8', old, i)
      local b = i + 7 <= #value and struct.unpack('<i8', value, i)
      local sum
      if kind == 'm' and a and b then sum = math.max(a, b) else sum = (a or 0) + (b or 0) end
      sums[#sums + 1] = struct.pack('<i8', sum)
    end
    put(key, table.concat(sums))
  end
end
local answers = {}
local at = 3
for batch = 1, tonumber(ARGV[2]) do
  local conditions, changes = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
  at = at + 2
  local failed = 0
  for i = 1, conditions do
    if failed == 0 and not holds(ARGV[at], ARGV[at + 1], ARGV[at + 2]) then failed = i end
    at = at + 3
  end
  for i = 1, changes do
    if failed == 0 then make(ARGV[at], ARGV[at + 1], ARGV[at + 2]) end
    at = at + 3
  end
  answers[batch] = failed
end
local answer = table.concat(answers, ' ')
redis.call('SET', told, ARGV[1] .. ' ' .. answer, 'EX', 3600)
return answer
)lua";

// KEYS: hash, sorted set. ARGV: from, to as ZRANGEBYLEX takes them, how many. Answers key, value, key, value, ... and,
// where there are more, the next key at the end.
inline constexpr char kScanScript[] = R"lua(
local count = tonumber(ARGV[3])
local keys = redis.call('ZRANGEBYLEX', KEYS[2], ARGV[1], ARGV[2], 'LIMIT', 0, count + 1)
local answer = {}
local more = keys[count + 1]
keys[count + 1] = nil
if #keys > 0 then
  local values = redis.call('HMGET', KEYS[1], unpack(keys))
  for i = 1, #keys do
    answer[2 * i - 1] = keys[i]
    answer[2 * i] = values[i]
  end
end
if more then answer[#answer + 1] = more end
return answer
)lua";

} // namespace feedbench::feedfs
