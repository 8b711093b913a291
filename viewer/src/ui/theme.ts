// SPDX-License-Identifier: MIT
//
// Light or dark: as the system says, or as the reader chose. Canvases cannot read CSS by themselves, so the inks that
// they draw with are read from the style sheet here, and listeners are told when they change.

export interface Inks {
  card: string;
  ink: string;
  muted: string;
  line: string;
  globe: string;
  globeEdge: string;
  grid: string;
  halo: string;
  accent: string;
  band: string;
  dark: boolean;
}

export type Theme = "auto" | "light" | "dark";

const listeners: (() => void)[] = [];
const system = matchMedia("(prefers-color-scheme: dark)");
let chosen: Theme = "auto",
  current: Inks | null = null;

export function inks(): Inks {
  return (current ??= read());
}

export function onInks(listener: () => void): void {
  listeners.push(listener);
}

export function theme(): Theme {
  return chosen;
}

export function setTheme(choice: Theme): void {
  chosen = choice;
  remember(choice);
  changed();
}

export function startTheme(): void {
  setTheme(remembered());
  system.addEventListener("change", changed);
}

function isDark(): boolean {
  return chosen === "dark" || (chosen === "auto" && system.matches);
}

// The style sheet knows two sets of inks, and the root element which of them holds.
function changed(): void {
  document.documentElement.dataset["theme"] = isDark() ? "dark" : "light";
  current = null;
  for (const listener of listeners) listener();
}

function read(): Inks {
  const style = getComputedStyle(document.documentElement);
  const get = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    card: get("card"),
    ink: get("ink"),
    muted: get("muted"),
    line: get("line"),
    globe: get("globe"),
    globeEdge: get("globe-edge"),
    grid: get("grid"),
    halo: get("halo"),
    accent: get("accent"),
    band: get("band"),
    dark: isDark(),
  };
}

// A browser may refuse to remember anything for a file; then the choice holds until the page is closed.
function remember(choice: Theme): void {
  try {
    localStorage.setItem("asterism-theme", choice);
  } catch {
    return;
  }
}

function remembered(): Theme {
  try {
    const value = localStorage.getItem("asterism-theme");
    return value === "light" || value === "dark" ? value : "auto";
  } catch {
    return "auto";
  }
}
