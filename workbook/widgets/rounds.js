(id, style, extend) => {
  const start = host => {
    const svg = decodeURIComponent(host.querySelector("img").src.split("utf-8,")[1]);
    const root = host.attachShadow({ mode: "open" });
    root.innerHTML = `<style>${style}</style><div class="box" role="group" aria-label="Rounds of the engine">
<div class="bar"><button class="play" aria-label="Play or pause">&#9654;</button>
<button class="back" aria-label="One round back">&#8592;</button><button class="next" aria-label="One round on">&#8594;</button>
<input type="range" min="0" aria-label="Round"><output></output></div>
<div class="chart" tabindex="0" aria-label="Chart; use the arrow keys">${svg}</div>
<div class="what" aria-live="polite"></div></div>`;
    const $ = q => root.querySelector(q), columns = [...root.querySelectorAll(".c")];
    const box = $(".box"), chart = $(".chart"), slider = $("input"), labels = [...root.querySelectorAll(".labels")];
    const last = Math.max(0, ...columns.map(c => +c.dataset.k));
    const first = chart.firstElementChild.dataset.start, paint = extend ? extend(root) : () => {};
    let now = +(first ?? last), timer = null, moved = first !== undefined;
    if (!columns.length) { box.classList.add("still"); chart.removeAttribute("tabindex"); }
    const sentences = k => columns.filter(c => +c.dataset.k === k).map(c => c.firstChild.textContent);
    const draw = () => {
      slider.value = now;
      $("output").textContent = `${now + 1} / ${last + 1}`;
      $(".what").textContent = sentences(now).join(" \u2016 ");
      paint(now);
      for (const c of columns) {
        c.classList.toggle("later", +c.dataset.k > now);
        c.classList.toggle("now", moved && +c.dataset.k === now);
      }
      reveal();
    };
    const reveal = () => {
      const column = columns.find(c => +c.dataset.k === now);
      if (!column || !chart.clientWidth) return;
      const at = column.getBoundingClientRect(), view = chart.getBoundingClientRect();
      if (at.right > view.right) chart.scrollLeft += at.right - view.right + 40;
      if (at.left < view.left + 110) chart.scrollLeft -= view.left + 110 - at.left;
    };
    const stop = () => { clearInterval(timer); timer = null; $(".play").innerHTML = "&#9654;"; };
    const go = k => { moved = true; now = Math.max(0, Math.min(last, k)); draw(); };
    const play = () => {
      if (timer) return stop();
      go(now === last ? 0 : now);
      $(".play").innerHTML = "&#10074;&#10074;";
      timer = setInterval(() => { if (now === last || !host.isConnected) stop(); else go(now + 1); }, 700);
    };
    const keys = { ArrowRight: () => go(now + 1), ArrowLeft: () => go(now - 1), Home: () => go(0), End: () => go(last), " ": play };
    slider.max = last;
    slider.oninput = () => { stop(); go(+slider.value); };
    $(".play").onclick = play;
    $(".back").onclick = () => { stop(); go(now - 1); };
    $(".next").onclick = () => { stop(); go(now + 1); };
    chart.onkeydown = event => {
      if (!keys[event.key]) return;
      if (event.key !== " ") stop();
      keys[event.key]();
      event.preventDefault();
      event.stopPropagation();
    };
    // labels stay in sight; so does the legend, but where it is wider than the view it can be scrolled through
    const most = g => g.matches(".legend") ? Math.max(0, chart.scrollWidth - g.getBBox().width - 16) : Infinity;
    const follow = g => g.setAttribute("transform", `translate(${Math.min(chart.scrollLeft, most(g))})`);
    chart.onscroll = () => labels.forEach(follow);
    for (const c of columns) {
      c.onclick = () => { stop(); go(+c.dataset.k); };
      c.onmouseenter = () => { if (!timer) $(".what").textContent = sentences(+c.dataset.k).join(" \u2016 "); };
      c.onmouseleave = () => { if (!timer) $(".what").textContent = sentences(now).join(" \u2016 "); };
    }
    // the page decides between light and dark: light text means a dark page
    const theme = () => {
      const [r, g, b] = getComputedStyle(host).color.match(/[\d.]+/g).map(Number);
      box.toggleAttribute("data-dark", r + g + b > 382);
    };
    new MutationObserver(theme).observe(document.body, { attributes: true });
    theme();
    draw();
    // in a closed fold, and before the page is laid out, there is nothing to scroll yet
    const sized = new ResizeObserver(() => { if (chart.clientWidth) { sized.disconnect(); reveal(); } });
    sized.observe(chart);
  };
  for (const host of document.querySelectorAll(`[id="${id}"]`)) if (!host.shadowRoot) start(host);
}
