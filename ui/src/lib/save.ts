// Saves what the page has, or what the hub sends, as a file of the person's own machine.

/** Text that the page already has. */
export function save(name: string, type: string, text: string): void {
  saveBlob(name, new Blob([text], { type }));
}

export function saveBlob(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The download has begun when the click returns, but some browsers read the address a moment later.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
