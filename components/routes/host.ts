/** The host of an upstream for reading: without scheme, with its path when it has one. Our demonstration upstream by its name. */
export function hostOf(url: string | null): string {
  if (!url) return '—';
  if (isDemo(url)) return 'echo (demo)';
  return url.replace(/^https?:\/\//, '').replace(/\/$/, '');
}

/** The upstream that new workspaces start with: answered by the gateway itself. */
export const isDemo = (url: string | null): boolean => url !== null && /^http:\/\/echo\.sallyport\.internal(?:\/|$)/.test(url);
