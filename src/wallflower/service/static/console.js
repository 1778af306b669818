// The price while one types, the slider, and mistakes of a declaration at their fields. Without this file the same pages work with their buttons.
"use strict";
const asked = async (form) => {
  const body = new URLSearchParams(new FormData(form));
  for (const button of ["submit", "save"]) body.delete(button);
  const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" }, credentials: "same-origin" });
  return answer.json();
};
(() => {
  const form = document.querySelector("form[data-declare]");
  if (!form) return;
  let last = 0, timer = 0;
  const show = (told) => {
    form.querySelectorAll("[aria-describedby]").forEach((field) => {
      const words = told.fields[field.name] || "";
      if (words) field.setAttribute("aria-invalid", "true"); else field.removeAttribute("aria-invalid");
      const place = document.getElementById(field.getAttribute("aria-describedby"));
      if (place.textContent !== words) place.textContent = words;
    });
    if (told.ok) document.querySelector("#as-text").textContent = told.text;
  };
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const mine = ++last;
      try {
        const told = await asked(form);
        if (mine === last && told.fields) show(told);
      } catch { /* the buttons say what is wrong, too */ }
    }, 300);
  });
})();
(() => {
  const form = document.querySelector("form[data-live]");
  if (!form) return;
  const panel = document.querySelector("#price");
  const button = form.querySelector("button[name=update]");
  if (button) button.hidden = true;
  let last = 0, timer = 0;

  const element = (name, text, kind) => {
    const made = document.createElement(name);
    made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
  const pairs = (list, rows) => rows.forEach(([label, text]) => list.append(element("dt", label), element("dd", text)));

  const draw = (curve) => {
    const card = document.querySelector("#curve");
    card.hidden = !curve;
    if (!curve) return;
    const set = (query, places) => Object.entries(places).forEach(([name, value]) => card.querySelector(query).setAttribute(name, value));
    set("svg", { "aria-label": curve.words });
    set("polyline", { points: curve.points });
    set("line", { x1: curve.x, x2: curve.x });
    set("circle", { cx: curve.x, cy: curve.y });
    set(".label", { x: Math.min(curve.x + 8, 200), y: Math.max(curve.y - 6, 12) });
    card.querySelector(".label").textContent = curve.label;
    card.querySelector("#curve-words").textContent = curve.words;
  };

  const show = (told) => {
    panel.replaceChildren(element("h2", "Price"));
    if (!told.ok && told.error.message.endsWith("is missing.")) {
      panel.append(element("p", `Still to be filled in: ${told.error.hint}`, "soft"));
      return;
    }
    if (!told.ok) {
      panel.append(element("div", `${told.error.message} ${told.error.hint}`, "promise wrong"));
      return;
    }
    const price = told.price, list = document.createElement("dl");
    pairs(list, [["costs", price.costs], ...price.expected, ...price.leaves]);
    panel.append(list, element("div", price.promise, "promise"));
    draw(price.curve);
    price.notes.forEach((note) => panel.append(element("div", note, "promise not")));
  };

  const ask = async () => {
    const mine = ++last;
    try {
      const told = await asked(form);
      if (mine === last) show(told);
    } catch {
      if (mine === last) show({ ok: false, error: { message: "The service did not answer.", hint: "Your text is still here." } });
    }
  };

  form.addEventListener("input", (event) => {
    const slider = event.target.closest("input[type=range]");
    if (slider) form.elements.epsilon.value = slider.dataset.steps.split(" ")[Number(slider.value)];
    else if (event.target.name === "epsilon") follow();
    clearTimeout(timer);
    timer = setTimeout(ask, 250);
  });
  // The slider stands at the step nearest to what was typed, as far apart as steps are: by ratio.
  const follow = () => form.querySelectorAll("input[type=range]").forEach((slider) => {
    const far = slider.dataset.steps.split(" ").map((step) => Math.abs(Math.log(Number(step) / Number(form.elements.epsilon.value))));
    const near = far.indexOf(Math.min(...far));
    if (near >= 0) slider.value = String(near);
  });
  form.querySelectorAll("input[type=range]").forEach((slider) => { slider.closest(".field").hidden = false; });
  follow();
  ask();
})();
