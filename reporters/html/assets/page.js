// The page as a whole: theme, the part that is looked at, print. Tests look into window.feedbench.
document.documentElement.classList.remove('no-script');
const theme = {
  dark: () => matchMedia('(prefers-color-scheme: dark)').matches,
  now: () => document.documentElement.dataset.theme ?? (theme.dark() ? 'dark' : 'light'),
  set(name) {
    if (name) document.documentElement.dataset.theme = name;
    else delete document.documentElement.dataset.theme;
    plots.redraw();
  },
};
{
  const button = document.createElement('button');
  button.type = 'button';
  const name = () => { button.textContent = theme.now() === 'dark' ? 'Light' : 'Dark'; };
  button.addEventListener('click', () => { theme.set(theme.now() === 'dark' ? 'light' : 'dark'); name(); });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { plots.redraw(); name(); });
  document.querySelector('.brand').append(button);
  name();
}

// One part at a time, chosen by the list or by a link to #id (of the part or of something in it).
const chooser = document.querySelector('.chooser');
if (chooser) {
  const select = chooser.querySelector('select');
  const parts = [...document.querySelectorAll('.part')];
  function choose(id) {
    for (const part of parts) part.hidden = part.id !== id;
    select.value = id;
    plots.drawSeen();
  }
  function followLink(scroll) {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const part = target && target.closest('.part');
    if (!part) return;
    choose(part.id);
    if (scroll) target.scrollIntoView();
  }
  chooser.hidden = false;
  select.addEventListener('change', () => { choose(select.value); history.replaceState(null, '', '#' + select.value); });
  addEventListener('hashchange', () => followLink(true));
  choose(parts[0].id);
  followLink(true);
}

// Paper is white and narrow, whatever the screen is; what was closed is open on it.
let beforePrint = null;
addEventListener('beforeprint', () => {
  if (beforePrint) return;
  const closed = [...document.querySelectorAll('main details:not([open])')];
  beforePrint = { theme: document.documentElement.dataset.theme, closed };
  for (const one of closed) one.open = true;
  document.documentElement.dataset.theme = 'light';
  plots.redrawAt(660);
});
addEventListener('afterprint', () => {
  if (!beforePrint) return;
  for (const one of beforePrint.closed) one.open = false;
  theme.set(beforePrint.theme);
  beforePrint = null;
});

plots.drawSeen();
window.feedbench = { plots: plots.drawn, specs: plots.specs };
