/** `Key management` from `key management`: for what begins a line or a sentence. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
