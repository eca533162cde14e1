// The style of the element, within its shadow tree. A sheet that a program makes needs
// no leave of a page's policy.
const text = `
:host { --ink: #e8eaed; --panel: rgb(18 20 24 / 84%); --accent: #7ab8ff; --ground: #14161a; color-scheme: dark;
  display: block; position: relative; overflow: hidden; contain: content; container-type: inline-size; width: 100%; aspect-ratio: 16 / 9; background: var(--ground); color: var(--ink);
  font: 15px/1.4 system-ui, sans-serif; text-align: start; }
@media (prefers-color-scheme: light) {
  :host(:not([theme="dark"])) { --ink: #15181c; --panel: rgb(250 250 252 / 88%); --accent: #0b62c4; --ground: #e6e8eb; color-scheme: light; }
}
:host([theme="light"]) { --ink: #15181c; --panel: rgb(250 250 252 / 88%); --accent: #0b62c4; --ground: #e6e8eb; color-scheme: light; }
:host([hidden]), [hidden] { display: none !important; }
#stage, canvas { position: absolute; inset: 0; width: 100%; height: 100%; }
canvas { display: block; outline: none; touch-action: pan-x pan-y; }
:host(:focus-within) canvas, :host([gestures="always"]) canvas { touch-action: none; }
canvas.held { cursor: grabbing; }
:host(:focus-within:not([gestures="always"])) #stage::after { content: ""; position: absolute; inset: 0; border: 2px solid var(--accent); opacity: .6; pointer-events: none; }
#loading, #failure { position: absolute; inset: 0; margin: auto; box-sizing: border-box; width: min(26rem, 86%); height: fit-content; max-height: 90%; overflow: auto; padding: 1rem 1.4rem; background: var(--panel); border-radius: .6rem; }
#loading progress { width: 100%; accent-color: var(--accent); }
#failure h1 { font-size: 1.2rem; margin: 0 0 .5rem; }
#failure p, #loading p { margin: 0 0 .6rem; overflow-wrap: anywhere; }
#hint { position: absolute; left: 50%; top: 1rem; transform: translateX(-50%); box-sizing: border-box; width: max-content; max-width: 90%; margin: 0; padding: .4rem .9rem; background: var(--panel); border-radius: .5rem; pointer-events: none; overflow-wrap: anywhere; }
#streaming { position: absolute; inset: 0 0 auto 0; width: 100%; height: 4px; border: 0; appearance: none; background: transparent; pointer-events: none; }
#streaming::-webkit-progress-bar { background: transparent; }
#streaming::-webkit-progress-value { background: var(--accent); }
#streaming::-moz-progress-bar { background: var(--accent); }
#tools { position: absolute; inset: auto .6rem max(.6rem, env(safe-area-inset-bottom)) .6rem; display: flex; flex-direction: column; gap: .35rem; align-items: flex-start; pointer-events: none; }
#tools.alone :is(#pad, #bar > :not(slot), #figures) { display: none; }
#bar { display: flex; flex-wrap: wrap; gap: .3rem; }
#bar > *, ::slotted(*), #pad > * { pointer-events: auto; }
:host(:not([controls])) :is(#bar, #pad), :host(:not([hud])) #figures { display: none !important; }
button, select, ::slotted(:is(button, select)) { font: inherit; color: var(--ink); background: var(--panel); border: 1px solid transparent; border-radius: .4rem; padding: .2rem .6rem; min-height: 1.9rem; max-width: 14rem; cursor: pointer; }
select, ::slotted(select) { text-overflow: ellipsis; white-space: nowrap; }
option { color: var(--ink); background: var(--ground); }
#failure button { border-color: currentColor; }
:is(button, select):hover { border-color: var(--accent); }
:focus-visible, ::slotted(:focus-visible) { outline: 2px solid var(--accent); outline-offset: 2px; }
canvas:focus-visible { outline: none; }
#pad { align-self: flex-end; display: none; grid-template-columns: repeat(3, 2.8rem); gap: .35rem; user-select: none; -webkit-user-select: none; touch-action: none; }
#pad button { min-height: 2.8rem; padding: 0; touch-action: none; }
#figures { margin: 0; padding: .1rem .5rem; background: var(--panel); border-radius: .3rem; font-size: .8rem; font-variant-numeric: tabular-nums; }
#figures:empty { display: none; }
#news { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); margin: 0; }
dialog { color: var(--ink); background: var(--panel); border: 0; border-radius: .6rem; padding: 1rem 1.4rem; box-sizing: border-box; max-width: min(34rem, 92vw); max-height: 86vh; overflow: auto; }
dialog::backdrop { background: rgb(0 0 0 / 35%); }
dialog form { float: right; }
dialog h1 { font-size: 1.1rem; margin: 0 0 .6rem; }
dialog dl { display: grid; grid-template-columns: auto 1fr; gap: .25rem 1rem; margin: 0; }
dialog dt { font-weight: 600; }
dialog dd { margin: 0; }
@media (max-width: 30rem) { dialog dl { grid-template-columns: 1fr; gap: 0; } dialog dd { margin: 0 0 .35rem; } }
@media (pointer: coarse) { #pad { display: grid; } button, select, ::slotted(:is(button, select)) { min-height: 2.5rem; } }
@container (max-width: 46rem) {
  button, select, ::slotted(:is(button, select)) { font-size: .85rem; padding: .2rem .45rem; }
  #bar select, ::slotted(select) { max-width: 6.2rem; }
  #bar, #bar slot { gap: .25rem; }
  #figures { font-size: .72rem; }
}
@media (prefers-reduced-motion: no-preference) { #hint { transition: opacity .2s; } }
`;

const sheet = new CSSStyleSheet();
sheet.replaceSync(text);

export default sheet;
