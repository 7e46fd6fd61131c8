/* Hands for the console: keys, the live outcome row, the undo countdown. Every page works without. */
"use strict";

(() => {
  const words = document.currentScript.dataset; // in the language of the page
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const typing = (target) => target.matches("input:not([type=radio], [type=checkbox]), textarea, select");

  /* -- what a key could not do is said, never silent -------------------------------------------- */

  const said = one("#said");
  let quiet = 0;

  function say(text) {
    said.textContent = text;
    clearTimeout(quiet);
    quiet = setTimeout(() => said.replaceChildren(), 8000);
  }

  const label = (button) => [...button.childNodes].find((node) => node.nodeType === Node.TEXT_NODE).data.trim();
  const beside = (button) => (one("p", button.closest(".verb") ?? button) ?? one("span", button.closest(".undo")))?.textContent.trim();

  function refuse(button) {
    say(`${words.closed.replace("{button}", () => label(button))} ${beside(button)}`);
  }

  /* -- moving through rows and fields -------------------------------------------------------- */

  const stops = () => all(".item .what a").concat(all(".compare input[type=radio]:checked"));

  function move(step) {
    const places = stops();
    if (!places.length) {
      say(words.still);
      return;
    }
    const here = places.findIndex((place) => place === document.activeElement || place.closest(".item.on"));
    const next = places[Math.min(places.length - 1, Math.max(0, here + step))];
    all(".item.on").forEach((row) => row.classList.remove("on"));
    next.closest(".item")?.classList.add("on");
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  }

  /* -- verbs: a key arms the button and asks for the reason; enter then carries it out -------- */

  const form = one("#act");
  let armed = null;

  function disarm() {
    armed?.closest(".verb").classList.remove("armed");
    armed = null;
  }

  function arm(button) {
    const reason = one("#reason");
    disarm();
    if (!reason || button.form !== form || button.formNoValidate) {
      button.click();
      return;
    }
    armed = button;
    button.closest(".verb").classList.add("armed");
    reason.focus();
    reason.scrollIntoView({ block: "nearest" });
  }

  one("#reason")?.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      if (!armed) say(words.enter);
      else if (armed.disabled) refuse(armed);
      else form.requestSubmit(armed);
    } else if (event.key === "Escape") {
      disarm();
      event.target.blur();
    }
  });

  // A decision is sent once: the ledger would answer a second one, but nobody should have to see it.
  form?.addEventListener("submit", (event) => {
    if (form.dataset.sent) {
      event.preventDefault();
      say(words.sent);
    }
    form.dataset.sent = "yes";
  });
  addEventListener("pageshow", () => form && delete form.dataset.sent);

  /* -- keys ----------------------------------------------------------------------------------- */

  const help = one("#help");
  const either = (selector, act, missing) => () => (one(selector) ? act(one(selector)) : say(missing));

  const keys = {
    j: () => move(1),
    k: () => move(-1),
    "/": either("#search", (field) => field.focus(), words.search),
    "?": () => help.showModal(),
    e: either("#to-edit", (link) => link.click(), words.edit),
    q: either("#to-queue", (link) => link.click(), words.queue),
  };
  const verbs = { r: words.noneR, s: words.noneS, a: words.noneA, l: words.noneL, z: words.noneZ };

  function verb(key) {
    const buttons = all(`button[data-key="${key}"]`);
    const button = buttons.find((each) => !each.disabled);
    if (button) arm(button);
    else if (buttons.length) refuse(buttons[0]);
    else say(verbs[key]);
  }

  document.addEventListener("keydown", (event) => {
    if (!help || help.open || typing(event.target) || event.isComposing) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = Object.hasOwn(keys, event.key) ? keys[event.key] : Object.hasOwn(verbs, event.key) && (() => verb(event.key));
    if (!act) return;
    event.preventDefault();
    if (!event.repeat || "jk".includes(event.key)) act(); // a key that is held down decides once
  });

  /* -- the outcome row follows the choice ----------------------------------------------------- */

  let asked = 0;

  async function redraw() {
    const turn = ++asked;
    const answer = await fetch(one("#preview").formAction, {
      method: "POST",
      body: new FormData(form),
      credentials: "same-origin",
    });
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (turn !== asked) return; // a newer choice is on its way
    for (const id of ["result", "result-version"]) {
      const part = fresh.getElementById(id);
      if (part) document.getElementById(id).replaceChildren(...part.childNodes);
    }
    const [shown, drawn] = [one("#shown"), one("#shown", fresh)];
    if (shown && drawn) shown.value = drawn.value;
    all(".verb", fresh).forEach((verb, place) => {
      const own = all(".verb")[place];
      const [button, drawn] = [one("button", own), one("button", verb)];
      button.disabled = drawn.disabled;
      button.className = drawn.className;
      button.replaceChildren(...drawn.childNodes);
      one("p", own).replaceChildren(...one("p", verb).childNodes);
    });
    document.documentElement.dataset.drawn = String(Number(document.documentElement.dataset.drawn ?? 0) + 1);
  }

  const preview = one("#preview"); /* not there for who may not choose */

  if (preview && form) {
    preview.hidden = true;
    all("[name^=other-], [name^=empty-]").forEach((input) =>
      input.addEventListener("input", () => {
        one(`[name="${input.name.replace(/^[a-z]+/, "pick")}"][value=other]`).checked = true;
      }),
    );
    all("[name^=pick-], [name^=other-], [name^=empty-]").forEach((input) => input.addEventListener("change", redraw));
    redrawOnReturn();
  }

  // A browser restores radio buttons when it goes back; the row has to follow.
  function redrawOnReturn() {
    addEventListener("pageshow", (event) => event.persisted && redraw());
  }

  /* -- the menus of the header close when something else is wanted ---------------------------- */

  const menus = () => all(".bar nav details[open]");
  addEventListener("click", (event) => menus().forEach((menu) => menu.contains(event.target) || (menu.open = false)));
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    menus().forEach((menu) => {
      menu.open = false;
      one("summary", menu).focus();
    });
  });

  /* -- undo counts down ----------------------------------------------------------------------- */

  const undo = one(".undo time");
  if (undo) {
    const until = Date.parse(undo.dateTime);
    const tick = () => {
      const left = Math.ceil((until - Date.now()) / 1000);
      if (left <= 0) {
        one(".undo button").disabled = true;
        one(".undo span").textContent = words.gone;
        return;
      }
      undo.textContent = words.left.replace("{seconds}", left);
      setTimeout(tick, 1000);
    };
    tick();
  }
})();
