// What is open over the page: the palette, or the list of keys.

type Overlay = "palette" | "keys";

class Overlays {
  open: Overlay | undefined = $state();

  toggle(overlay: Overlay): void {
    this.open = this.open === overlay ? undefined : overlay;
  }

  close(): void {
    this.open = undefined;
  }
}

export const overlays = new Overlays();
