// What this browser remembers: theme, density, columns, the last group. Nothing secret.

type Theme = "system" | "light" | "dark";
type Density = "normal" | "compact";

const PREFIX = "plugboard.";

class Prefs {
  theme: Theme = $state("system");
  density: Density = $state("normal");
  /** Single letters as shortcuts; WCAG 2.1.4 demands a way to switch them off. */
  singleKeys = $state(true);

  constructor() {
    const theme = this.get("theme");
    if (theme === "light" || theme === "dark") this.theme = theme;
    if (this.get("density") === "compact") this.setDensity("compact");
    this.singleKeys = this.get("single-keys") !== "off";
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    this.set("theme", theme === "system" ? undefined : theme);
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }

  setDensity(density: Density): void {
    this.density = density;
    this.set("density", density === "normal" ? undefined : density);
    if (density === "normal") delete document.documentElement.dataset.density;
    else document.documentElement.dataset.density = density;
  }

  setSingleKeys(on: boolean): void {
    this.singleKeys = on;
    this.set("single-keys", on ? undefined : "off");
  }

  /** Something that one screen remembers. */
  get(name: string): string | undefined {
    return localStorage.getItem(PREFIX + name) ?? undefined;
  }

  set(name: string, value: string | undefined): void {
    if (value === undefined) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, value);
  }
}

export const prefs = new Prefs();
