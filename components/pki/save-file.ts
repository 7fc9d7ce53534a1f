/** Hands a file to the browser. Its address is gone at once, and with it the last copy in the page. */
export function saveFile(content: string | Uint8Array<ArrayBuffer>, name: string, type = 'application/x-pem-file'): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}

/** The bytes of a PEM text of one block. */
export const derOfPem = (pem: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(pem.replace(/-----[^-]+-----|\s/g, '')), (letter) => letter.charCodeAt(0));

/** A common name as a part of a file name. */
export const fileName = (text: string): string => text.replace(/[^\w.-]+/g, '-').replace(/^[-.]+|-+$/g, '') || 'certificate';
