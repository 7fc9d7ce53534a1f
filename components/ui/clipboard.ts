// A copied secret is taken off the clipboard again. Browsers write there only while their page has the focus, so it may wait for the person's return.

let due: ReturnType<typeof setTimeout> | undefined;

/** Puts a text on the clipboard. @throws what the browser refuses with */
export async function copyText(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
  keepClipboard();
}

/** The same for a secret, which is cleared `afterMs` later, or when the page has the focus again. What is copied here meanwhile stays. */
export async function copySecret(text: string, afterMs: number): Promise<void> {
  await copyText(text);
  due = setTimeout(clear, afterMs);
  document.addEventListener('copy', keepClipboard, { once: true });
}

function clear(): void {
  if (document.hasFocus()) {
    keepClipboard();
    void navigator.clipboard.writeText('').catch(() => undefined);
  } else window.addEventListener('focus', clear, { once: true });
}

function keepClipboard(): void {
  clearTimeout(due);
  due = undefined;
  document.removeEventListener('copy', keepClipboard);
  window.removeEventListener('focus', clear);
}
