/** `Key management` from `key management`: for what begins a line or a sentence. */
export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
