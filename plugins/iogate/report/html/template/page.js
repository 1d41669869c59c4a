"use strict";
(async () => {
  // What is being drawn; tests wait for it.
  window.drawing = [];
  const bytes = Uint8Array.from(atob(document.getElementById("data").textContent), (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const { charts, config, details, sweeps } = await new Response(unpacked).json();

  // An element with its children; text stays text.
  const make = (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
    return element;
  };

  const table = (heads, rows) => {
    const numeric = heads.map((_, column) => rows.every((row) => typeof (row[column] ?? 0) === "number"));
    const cell = (kind, text, column) => make(kind, numeric[column] ? { class: "n" } : {}, String(text ?? ""));
    return make("table", {},
      make("thead", {}, make("tr", {}, ...heads.map((head, column) => {
        const th = cell("th", head, column);
        th.setAttribute("scope", "col");
        return th;
      }))),
      make("tbody", {}, ...rows.map((row) => make("tr", {}, ...heads.map((_, column) => cell("td", row[column], column))))));
  };

  const folded = (title, ...children) => make("details", {}, make("summary", {}, title), ...children);
  const scrolling = (label, inner) => make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, inner);

  // A chart with the words of a plot in the place of its @words.
  const worded = (value, words) => {
    if (Array.isArray(value)) return value.map((item) => worded(item, words));
    if (value && typeof value === "object")
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, worded(item, words)]));
    return typeof value === "string" && value[0] === "@" ? words[value.slice(1)] ?? "" : value;
  };

  const draw = (place, plot) => {
    const rows = plot.rows.map((row) => Object.fromEntries(plot.keys.map((key, column) => [key, row[column]])));
    const spec = worded(charts[plot.kind], plot.words ?? {});
    spec.layer = spec.layer.filter((layer) => !layer.data || plot.more?.[layer.data.name]?.length);
    rows.forEach((row, order) => { row.order = order; });
    spec.datasets = { ...plot.more, rows };
    const names = rows.map((row) => String(row.series ?? row.whose ?? ""));
    const longest = Math.max(...names.map((name) => name.length));
    const columns = Math.max(1, Math.floor(place.clientWidth / (7 * longest + 40)));
    const view = vegaEmbed(place, spec, {
      actions: false, ast: true, config: { ...config, legend: { ...config.legend, columns } }, defaultStyle: false, mode: "vega-lite", renderer: "svg",
    });
    window.drawing.push(view);
    return view;
  };

  const figure = (plot) => {
    const place = make("div", { class: "plot", role: "img", "aria-label": `${plot.title}; its figures are in the table below` });
    const shown = make("figure", {},
      make("figcaption", {}, plot.title), place,
      plot.note ? make("p", { class: "soft" }, plot.note) : null,
      folded(`figures (${plot.rows.length})`, scrolling(`figures of: ${plot.title}`, table(plot.heads, plot.rows))));
    return [shown, () => draw(place, plot)];
  };

  // Charts need their width, so they are drawn once they are in the page.
  const drawn = (plots) => {
    const figures = (plots ?? []).map(figure);
    return [make("div", { class: "plots" }, ...figures.map(([shown]) => shown)), () => Promise.all(figures.map(([, start]) => start()))];
  };

  const terms = (facts) => make("dl", {}, ...Object.entries(facts).flatMap(([key, text]) => [make("dt", {}, key), make("dd", {}, text)]));

  const finding = ([severity, check, message, remedy, waived]) => make("li", {},
    make("strong", { class: severity }, `${severity} ${check}`), `: ${message}`,
    remedy ? make("span", { class: "soft" }, ` ${remedy}`) : null, waived ? ` (waived: ${waived})` : null);

  const inside = (id) => {
    const known = details[id];
    const [plots, start] = drawn(known.plots);
    const part = (title, ...children) => [make("h3", {}, title), ...children];
    const body = make("div", { class: "inside" },
      make("p", {}, known.about ?? ""),
      make("p", { class: "soft" }, known.where ?? "", " ", make("a", { href: `#${id}` }, "link to this workload")),
      make("p", { class: "reason" }, known.reason ?? ""),
      ...(known.pair ?? []).map((text) => make("p", {}, text)),
      ...(known.findings ? part("Findings", make("ul", { class: "findings" }, ...known.findings.map(finding))) : []),
      ...(known.changed ? part("What changed since the baseline", make("ul", {}, ...known.changed.map((text) => make("li", {}, text)))) : []),
      plots,
      ...(known.metrics ? [folded(`all metrics (${known.metrics.length})`,
        scrolling("all metrics", table(["metric", "measured", "baseline", "change"], known.metrics)))] : []),
      folded("command and declaration",
        ...(known.command ? [make("pre", { tabindex: "0" }, known.command)] : []),
        ...Object.entries(known.files ?? {}).flatMap(([name, text]) => [make("p", {}, name), make("pre", { tabindex: "0" }, text)]),
        terms(known.definition ?? {}),
        ...(known.folders ? [make("p", { class: "soft" }, `raw outputs: ${known.folders.join(", ")}`)] : [])));
    return [body, start];
  };

  const unfold = (body, open = true) => {
    const button = body.querySelector(".fold");
    button.setAttribute("aria-expanded", String(open));
    body.classList.toggle("open", open);
    let row = body.querySelector("tr.unfolded");
    if (row) { row.hidden = !open; return; }
    if (!open) return;
    const [content, start] = inside(body.id);
    row = make("tr", { class: "unfolded", role: "row" }, make("td", { colspan: "8", role: "cell", class: "more" }, content));
    body.append(row);
    start();
  };

  for (const body of document.querySelectorAll(".workloads > tbody"))
    body.querySelector(".fold").addEventListener("click", (event) =>
      unfold(body, event.currentTarget.getAttribute("aria-expanded") !== "true"));

  const ORDERS = {
    rank: (one, two) => one.rank - two.rank,
    worse: (one, two) => two.worse - one.worse,
    suite: (one, two) => one.suite.localeCompare(two.suite) || one.name.localeCompare(two.name, undefined, { numeric: true }),
    seconds: (one, two) => two.seconds - one.seconds,
  };

  for (const form of document.querySelectorAll(".tools")) {
    const whole = form.parentElement.querySelector(".workloads");
    const bodies = [...whole.tBodies];
    const filter = () => {
      const words = form.words.value.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      for (const body of bodies) {
        const { search, verdict } = body.dataset;
        body.hidden = !(words.every((word) => search.includes(word)) && (!form.verdict.value || verdict === form.verdict.value));
        count += !body.hidden;
      }
      form.shown.value = `${count} of ${bodies.length} shown`;
    };
    form.addEventListener("submit", (event) => event.preventDefault());
    form.words.addEventListener("input", filter);
    form.verdict.addEventListener("change", filter);
    form.sort.addEventListener("change", () => whole.append(...[...bodies].sort((one, two) => ORDERS[form.sort.value](one.dataset, two.dataset))));
    form.unfold.addEventListener("click", () => bodies.filter((body) => !body.hidden).forEach((body) => unfold(body)));
    form.clear = () => { form.words.value = form.verdict.value = ""; filter(); };
  }

  // A link leads to its workload, whatever is filtered, and unfolds it.
  const follow = () => {
    const body = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!body?.matches(".workloads > tbody")) return;
    if (body.hidden) body.closest(".session").querySelector(".tools").clear();
    unfold(body);
    body.scrollIntoView();
  };
  addEventListener("hashchange", follow);

  // Sweeps are drawn when they come into sight, the others when there is nothing else to do: they may be printed.
  const waiting = new Map();
  const begin = (section) => {
    const start = waiting.get(section);
    waiting.delete(section);
    return start?.();
  };
  const sight = new IntersectionObserver((seen) =>
    seen.filter((entry) => entry.isIntersecting).forEach((entry) => begin(entry.target)), { rootMargin: "400px" });
  for (const section of document.querySelectorAll(".sweep")) {
    const [plots, start] = drawn(sweeps[section.dataset.sweep]);
    section.append(plots);
    waiting.set(section, start);
    sight.observe(section);
  }
  addEventListener("beforeprint", () => [...waiting.keys()].forEach(begin));
  follow();
  (async () => {
    while (waiting.size) {
      await new Promise((done) => (window.requestIdleCallback ?? setTimeout)(done));
      await begin([...waiting.keys()][0]);
    }
  })();
  document.documentElement.dataset.ready = "true";
})();
