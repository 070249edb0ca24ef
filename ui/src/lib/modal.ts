// A modal dialog that gives the focus back. The browser would do so, but Svelte removes the dialog from the page before it is closed.

/** `$effect(() => openModal(dialog))` */
export function openModal(dialog: HTMLDialogElement): () => void {
  const opener = document.activeElement;
  dialog.showModal();
  return () => {
    dialog.close();
    if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
  };
}
