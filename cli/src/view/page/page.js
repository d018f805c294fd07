'use strict';
// Filters, unfolds, and draws neighbourhoods. Text is only ever set as text: nothing that is read becomes markup.
(() => {
  const $ = (id) => document.getElementById(id);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  document.documentElement.classList.add('js');
  const data = JSON.parse($('data').textContent);
  const { list, graph } = data;

  const make = (tag, className, text) => {
    const it = document.createElement(tag);
    if (className) it.className = className;
    if (text !== undefined) it.textContent = text;
    return it;
  };

  // ------------------------------------------------------------------ entries: in the page, or rows of a long list

  const line = (row, number) => list.lines[number].replaceAll('\u0001', row[0]);
  const block = (number) => list.blocks[number];
  const entries = list
    ? list.rows.map((row, at) => ({
        row, at, name: row[0], action: list.lines[row[1]], module: list.lines[row[2]], type: list.lines[row[3]],
        verdict: list.lines[row[4]], node: row[10], alike: row[12],
      }))
    : all('#changes .e').map((el, at) => ({
        el, at, name: el.dataset.address, action: el.dataset.action ?? '', module: el.dataset.module ?? '',
        type: el.dataset.type ?? '', verdict: el.dataset.verdict ?? '', node: Number(el.dataset.node ?? -1),
      }));
  // What has that many rows is still shown whole, with what is folded left out until it is unfolded.
  const isLong = entries.length > 6000 && list !== undefined;
  const others = all('main .e').filter((it) => !it.closest('#changes'));

  // ------------------------------------------------------------------ what is wanted

  const value = (id) => $(id)?.value ?? '';
  const actions = new Set();
  const terms = () => value('q').toLowerCase().split(/\s+/).filter(Boolean);
  const isFiltered = () => terms().length > 0 || actions.size > 0 || ['type', 'module', 'verdict'].some((it) => value(it) !== '');

  function chosen(it) {
    const [type, module, verdict] = [value('type'), value('module'), value('verdict')];
    return (actions.size === 0 || actions.has(it.action)) && (type === '' || it.type === type)
      && (module === '' || it.module === (module === '.' ? '' : module))
      && (verdict === '' || it.verdict === (verdict === 'none' ? '' : verdict));
  }

  const textOf = new WeakMap();
  function says(el, words) {
    if (words.length === 0) return true;
    let text = textOf.get(el);
    if (text === undefined) textOf.set(el, text = el.textContent.toLowerCase());
    return words.every((it) => text.includes(it));
  }

  // A word is looked for once in each text of a long list, however many entries have that text.
  function finder(word) {
    const hits = list.lines.map((it) => it.toLowerCase().includes(word));
    const seen = new Map();
    const within = (number, step, places) => {
      const key = number * 2 + (step > 1 ? 1 : 0);
      if (!seen.has(key)) seen.set(key, block(number).some((it, at) => places.includes(at % step) && hits[it]));
      return seen.get(key);
    };
    return (row) => row[0].toLowerCase().includes(word) || hits[row[1]] || hits[row[3]] || hits[row[8]] || hits[row[9]]
      || within(row[5], 1, [0]) || within(row[6], 1, [0]) || within(row[7], 3, [1, 2]);
  }

  function apply() {
    const words = terms();
    const finders = list ? words.map(finder) : [];
    let count = 0;
    if (isLong) {
      shown = entries.filter((it) => chosen(it) && finders.every((finds) => finds(it.row)));
      count = shown.length;
      arrange(words.length > 0);
    } else {
      for (const it of entries) {
        const visible = chosen(it) && (list ? finders.every((finds) => finds(it.row)) : says(it.el, words));
        it.el.classList.toggle('off', !visible);
        count += visible;
      }
      for (const group of all('#changes .f, #changes .mod')) {
        const visible = group.querySelector('.e:not(.off)') !== null;
        group.classList.toggle('off', !visible);
        if (group.matches('.f')) group.open = words.length > 0 && visible;
      }
    }
    for (const it of others) it.classList.toggle('off', !says(it, words));
    if ($('found')) $('found').textContent = isFiltered() ? `${count} of ${entries.length}` : `${entries.length} in all`;
    if ($('clear')) $('clear').hidden = !isFiltered();
  }

  function clear() {
    for (const id of ['q', 'type', 'module', 'verdict']) if ($(id)) $(id).value = '';
    actions.clear();
    for (const it of all('[data-act]')) it.setAttribute('aria-pressed', 'false');
    apply();
  }

  // ------------------------------------------------------------------ rows: a long list a piece at a time, any other at once

  const PIECE = 100;
  const HEIGHT = 39;
  const unfolded = new Set();
  let shown = entries;
  let items = [];
  let watcher = null;

  function arrange(unfoldsAll) {
    items = [];
    const places = new Map();
    let module = null;
    for (const it of shown) {
      if (it.module !== module) items.push({ heading: module = it.module });
      if (it.alike === undefined || unfoldsAll || unfolded.has(it.alike)) {
        items.push(it);
      } else if (places.has(it.alike)) {
        items[places.get(it.alike)].count += 1;
      } else {
        places.set(it.alike, items.length);
        items.push({ fold: it.alike, count: 1, first: it });
      }
    }
    watcher?.disconnect();
    watcher = new IntersectionObserver((seen) => {
      for (const it of seen) it.isIntersecting ? fill(it.target) : empty(it.target);
    }, { rootMargin: '1500px' });
    const pieces = [];
    for (let from = 0; from < items.length; from += PIECE) {
      const piece = make('div', 'piece');
      piece.from = from;
      piece.style.minHeight = `${Math.min(PIECE, items.length - from) * HEIGHT}px`;
      watcher.observe(piece);
      pieces.push(piece);
    }
    $('long').replaceChildren(...pieces);
    // What is seen first is there at once.
    if (pieces.length > 0) fill(pieces[0]);
  }

  // A list that is not long is put into the page as a whole.
  function build() {
    let [section, group, alike] = [null, null, undefined];
    for (const it of entries) {
      if (section === null || it.module !== section.dataset.in) {
        section = make('section', 'mod');
        section.dataset.in = it.module;
        section.append(item({ heading: it.module }));
        $('long').append(section);
        alike = undefined;
      }
      if (it.alike === undefined) group = section;
      else if (it.alike !== alike) {
        group = make('details', `f ${it.action}`);
        const head = make('summary');
        const count = entries.filter((other) => other.alike === it.alike).length;
        head.append(make('span', 'act', it.action), make('b', '', `${count} × the same change`), make('code', '', `${it.name}, …`));
        group.append(head);
        section.append(group);
      }
      alike = it.alike;
      it.el = entry(it);
      group.append(it.el);
    }
  }

  function fill(piece) {
    if (piece.childElementCount > 0) return;
    piece.append(...items.slice(piece.from, piece.from + PIECE).map(item));
    piece.style.minHeight = '';
  }

  function empty(piece) {
    if (piece.childElementCount === 0 || piece.querySelector('details[open]') || piece.contains(document.activeElement)) return;
    piece.style.minHeight = `${piece.offsetHeight}px`;
    piece.replaceChildren();
  }

  function item(it) {
    if (it.heading !== undefined) {
      const heading = make('h3');
      heading.append(make('code', '', it.heading || 'Root module'));
      return heading;
    }
    if (it.fold === undefined) return entry(it);
    const button = make('button', `fold ${it.first.action}`);
    button.type = 'button';
    button.append(make('span', 'act', it.first.action), make('b', '', `${it.count} × the same change`), make('code', '', `${it.first.name}, …`));
    button.addEventListener('click', () => {
      unfolded.add(it.fold);
      arrange(false);
    });
    return button;
  }

  function entry({ row, name, action, module, type, verdict, node }) {
    const it = make('details', `e ${action}`);
    it.id = name;
    it.row = row;
    Object.assign(it.dataset, { address: name, ...(action && { action }), ...(type && { type }), ...(module && { module }), ...(verdict && { verdict }) });
    if (node >= 0) Object.assign(it.dataset, { node, way: block(row[11]).join(' ') });
    const head = make('summary');
    if (action) head.append(make('span', 'act', action));
    if (verdict) head.append(make('span', `v ${verdict}`, verdict));
    head.append(make('code', '', name));
    const lead = block(row[5]);
    if (lead.length > 0) head.append(make('span', 'l', line(row, lead[0])));
    it.append(head);
    return it;
  }

  const KINDS = { '+': 'p', '-': 'm', '~': 'u', '-/+': 'r', '+/-': 'r', './+': 'r', '<=': 'i', '#': 'c' };

  function unfold(it) {
    if (!it.row || it.childElementCount > 1) return;
    const row = it.row;
    const body = make('div', 'b');
    for (const number of block(row[5]).slice(1)) body.append(make('p', '', line(row, number)));
    if (block(row[6]).length > 0) {
      const text = make('pre', 'd');
      for (const number of block(row[6])) {
        const said = line(row, number);
        text.append(make('span', KINDS[said.trimStart().split(' ')[0]] ?? '', said), '\n');
      }
      body.append(text);
    }
    const why = block(row[7]);
    if (why.length > 0) {
      const proof = make('section', 'w');
      proof.dataset.proof = row[0];
      const lines = make('ol');
      for (let at = 0; at < why.length; at += 3) {
        const own = make('li', `d${why[at]}`, line(row, why[at + 1]));
        if (why[at + 2] > 0) own.append(' ', make('span', 's', line(row, why[at + 2])));
        lines.append(own);
      }
      proof.append(make('h4', '', 'Why'), lines);
      body.append(proof);
    }
    const more = make('p', 'x');
    if (row[8] > 0) more.append(within('Served by ', link(list.lines[row[8]])), ' ');
    if (row[9] > 0) more.append(within('Written at ', make('code', '', list.lines[row[9]])), ' ');
    if (row[10] >= 0) {
      const button = make('button', 'g', 'Show in the graph');
      button.type = 'button';
      more.append(button, ' ');
    }
    more.append(link(row[0], 'Link to this'));
    body.append(more);
    it.append(body);
  }

  function within(...parts) {
    const it = make('span');
    it.append(...parts);
    return it;
  }

  function link(name, text = name) {
    const it = make('a', '', text);
    it.href = `#${encodeURIComponent(name)}`;
    return it;
  }

  // ------------------------------------------------------------------ going to an entry

  function find(name) {
    const there = $(name);
    if (there || !isLong) return there;
    const own = entries.find((it) => it.name === name);
    if (!own) return null;
    if (!shown.includes(own)) clear();
    if (own.alike !== undefined && !items.includes(own)) {
      unfolded.add(own.alike);
      arrange(false);
    }
    fill($('long').children[Math.floor(items.indexOf(own) / PIECE)]);
    return $(name);
  }

  function reveal(name) {
    const it = find(name);
    if (!it || it.matches('.part')) return false;
    if (it.closest('.off')) clear();
    for (let outer = it; outer; outer = outer.parentElement) if (outer.matches('details')) outer.open = true;
    for (const other of all('.here')) other.classList.remove('here');
    it.classList.add('here');
    if (it.matches('details')) unfold(it);
    it.scrollIntoView({ block: 'start' });
    it.querySelector('summary')?.focus({ preventScroll: true });
    return true;
  }

  function follow() {
    try {
      const name = decodeURIComponent(location.hash.slice(1));
      if (name && !reveal(name) && !$(name)) look(name);
    } catch {
      // What cannot be decoded names nothing.
    }
  }

  // ------------------------------------------------------------------ the graph

  const names = graph?.names ?? [];
  for (const it of list ? entries : []) if (it.node >= 0) names[it.node] = it.name;
  const on = graph?.on ?? [];
  let under = null;
  function above() {
    if (!under) {
      under = on.map(() => []);
      on.forEach((below, at) => below.forEach((it) => under[it].push(at)));
    }
    return under;
  }
  const boxes = all('#drawing .n');
  const boxOf = new Map();
  for (const it of boxes) for (const at of it.dataset.members.split(' ').filter(Boolean)) boxOf.set(Number(at), it);

  const COLUMN = 40;
  const SVG = 'http://www.w3.org/2000/svg';
  const draw = (tag, attributes, parent) => {
    const it = document.createElementNS(SVG, tag);
    for (const [name, text] of Object.entries(attributes)) it.setAttribute(name, text);
    parent?.append(it);
    return it;
  };

  // What is so many steps around a node, by column; what lies on its way is followed further.
  function around(centre, hops, way) {
    const column = new Map([[centre, 0]]);
    let left = 0;
    for (const [sign, edges] of [[1, on], [-1, above()]]) {
      let last = [centre];
      for (let step = 1; last.length > 0; step += 1) {
        const next = [...new Set(last.flatMap((it) => edges[it]))].filter((it) => !column.has(it) && (step <= hops || way.has(it)));
        next.sort((a, b) => way.has(b) - way.has(a) || a - b);
        left += Math.max(0, next.length - COLUMN);
        last = next.slice(0, COLUMN);
        for (const it of last) column.set(it, sign * step);
      }
    }
    return [column, left];
  }

  const short = (name) => (name.length > 44 ? `…${name.slice(-43)}` : name);

  function near(centre, way) {
    const [column, left] = around(centre, Number(value('hops') || 2), way);
    const columns = new Map();
    for (const [at, of] of column) columns.set(of, [...(columns.get(of) ?? []), at]);
    const order = [...columns.keys()].sort((a, b) => a - b);
    const tallest = Math.max(...[...columns.values()].map((it) => it.length));
    const place = new Map();
    let x = 8;
    for (const of of order) {
      const own = columns.get(of);
      const wide = Math.max(...own.map((it) => short(names[it]).length)) * 7.3 + 20;
      const top = 8 + ((tallest - own.length) * 34) / 2;
      own.forEach((it, at) => place.set(it, { x, y: top + at * 34, wide }));
      x += wide + 64;
    }
    const [wide, high] = [x - 56, tallest * 34 + 16];
    const svg = draw('svg', { class: 'graph', role: 'group', 'aria-label': `Around ${names[centre]}`, viewBox: `0 0 ${wide} ${high}`, width: wide, height: high });
    const lit = (it) => it === centre || way.has(it);
    for (const at of column.keys()) {
      for (const to of on[at].filter((it) => column.has(it))) {
        const [a, b] = [place.get(at), place.get(to)];
        const [x1, y1, x2, y2] = [a.x + a.wide, a.y + 13, b.x, b.y + 13];
        const bend = Math.max(24, Math.abs(x2 - x1) / 2);
        draw('path', { class: lit(at) && lit(to) ? 'l way' : 'l', d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}` }, svg);
      }
    }
    for (const [at, { x: left, y, wide: width }] of place) {
      const kind = graph.kinds[graph.classes[at]];
      const mark = at === centre ? ' centre' : way.has(at) ? ' way' : '';
      const own = draw('a', { class: `n ${kind}${mark}`, href: `#${encodeURIComponent(names[at])}`, 'data-at': at }, svg);
      draw('title', {}, own).textContent = `${kind} ${names[at]}`;
      draw('rect', { x: left, y, width, height: 26, rx: 4 }, own);
      draw('text', { x: left + 10, y: y + 17.5 }, own).textContent = short(names[at]);
    }
    $('near').replaceChildren(svg);
    $('near').hidden = false;
    const said = $('near-said');
    const counted = (count) => `${count} ${count === 1 ? 'object' : 'objects'}`;
    said.replaceChildren(link(names[centre], `Open ${names[centre]}`), ` rests on ${counted(on[centre].length)}; ${counted(above()[centre].length)} rest on it.`
      + (way.size > 1 ? ' What its proof speaks of is marked.' : '') + (left > 0 ? ` ${left} more are not drawn.` : ''));
    zoom(1);
  }

  // Marks boxes of the drawing, and the lines between them.
  function light(chosenBoxes, wayBoxes) {
    const svg = $('drawing');
    if (!svg) return;
    const ids = new Set(chosenBoxes.map((it) => it.dataset.box));
    const way = new Set(wayBoxes.map((it) => it.dataset.box));
    const seen = new Set([...ids, ...way]);
    for (const it of all('.l', svg)) {
      const { from, to } = it.dataset;
      const touches = ids.has(from) || ids.has(to);
      const isWay = way.has(from) && way.has(to);
      it.classList.toggle('lit', touches || isWay);
      it.classList.toggle('way', isWay);
      if (touches) seen.add(from).add(to);
    }
    for (const it of boxes) {
      it.classList.toggle('lit', seen.has(it.dataset.box));
      it.classList.toggle('way', way.has(it.dataset.box) && way.size > 1);
      it.classList.toggle('centre', ids.has(it.dataset.box));
    }
    svg.classList.toggle('lit', seen.size > 0);
  }

  function select(at, way = new Set()) {
    const own = boxOf.get(at);
    way.add(at);
    const wayBoxes = way.size > 1 ? [...way].map((it) => boxOf.get(it)).filter(Boolean) : [];
    light(own ? [own] : [], wayBoxes);
    near(at, way.size > 1 ? way : new Set());
    if ($('around')) $('around').value = names[at];
  }

  function look(name) {
    const at = names.indexOf(name);
    if (at < 0) return false;
    select(at);
    $('graph')?.scrollIntoView({ block: 'start' });
    return true;
  }

  let scale = 1;
  function zoom(to) {
    scale = Math.min(4, Math.max(0.1, to));
    for (const svg of all('.view svg')) {
      const [, , wide, high] = svg.getAttribute('viewBox').split(' ').map(Number);
      svg.setAttribute('width', wide * scale);
      svg.setAttribute('height', high * scale);
    }
  }

  function fit() {
    const views = all('.view:not([hidden])').filter((it) => it.firstElementChild);
    const widths = views.map((it) => (it.clientWidth - 4) / Number(it.firstElementChild.getAttribute('viewBox').split(' ')[2]));
    zoom(Math.min(1, ...widths));
  }

  // ------------------------------------------------------------------ hands

  document.addEventListener('toggle', (event) => {
    if (event.target.open && event.target.matches?.('.e')) unfold(event.target);
  }, true);

  document.addEventListener('click', (event) => {
    const target = event.target.closest('[data-act], #clear, button.g, .n, [data-zoom], a[href^="#"]');
    if (!target) return;
    if (target.matches('[data-act]')) {
      const { act } = target.dataset;
      if (!actions.delete(act)) actions.add(act);
      target.setAttribute('aria-pressed', String(actions.has(act)));
      apply();
    } else if (target.matches('#clear')) {
      clear();
    } else if (target.matches('button.g')) {
      const { node, way } = target.closest('.e').dataset;
      select(Number(node), new Set(way.split(' ').filter(Boolean).map(Number)));
      $('graph').scrollIntoView({ block: 'start' });
    } else if (target.matches('.n')) {
      event.preventDefault();
      const members = (target.dataset.members ?? target.dataset.at).split(' ').filter(Boolean).map(Number);
      if (members.length === 1) return select(members[0]);
      light([target], []);
      const said = $('near-said');
      said.replaceChildren(target.dataset.name);
      if (members.length > 1) {
        const button = make('button', '', `Show these ${members.length} in the list`);
        button.type = 'button';
        button.addEventListener('click', () => {
          clear();
          $('q').value = target.dataset.name === 'the root module' ? '' : target.dataset.name;
          apply();
          $('changes').scrollIntoView();
        });
        said.append(': ', button);
      }
    } else if (target.matches('[data-zoom]')) {
      const by = { in: scale * 1.25, out: scale / 1.25 }[target.dataset.zoom];
      by ? zoom(by) : fit();
    } else if (target.getAttribute('href') === location.hash) {
      follow();
    }
  });

  document.addEventListener('wheel', (event) => {
    if (!event.ctrlKey || !event.target.closest('.view')) return;
    event.preventDefault();
    zoom(scale * (event.deltaY < 0 ? 1.1 : 1 / 1.1));
  }, { passive: false });

  document.addEventListener('keydown', (event) => {
    const isTyping = event.target.matches('input, select, textarea');
    if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && $('q')) {
      event.preventDefault();
      $('q').focus();
    } else if (event.key === 'Escape' && event.target.id === 'q') {
      clear();
    }
  });

  $('q')?.addEventListener('input', apply);
  for (const id of ['type', 'module', 'verdict']) $(id)?.addEventListener('change', apply);
  $('around')?.addEventListener('change', (event) => look(event.target.value));
  $('hops')?.addEventListener('change', () => look(value('around')));
  addEventListener('hashchange', follow);

  // On paper everything is unfolded, whatever is filtered.
  let opened = [];
  addEventListener('beforeprint', () => {
    if (isLong) {
      shown = entries;
      arrange(true);
      all('.piece').forEach(fill);
    }
    all('#long .e').forEach(unfold);
    opened = all('details:not([open])');
    for (const it of opened) it.open = true;
  });
  addEventListener('afterprint', () => {
    for (const it of opened) it.open = false;
    opened = [];
    if (isLong) apply();
  });

  if ($('names') && names.length <= 2000) {
    $('names').append(...names.map((name) => {
      const it = make('option');
      it.value = name;
      return it;
    }));
  }
  if (list && !isLong) build();
  apply();
  follow();
})();
