/** The host of an upstream for reading: without scheme, with its path when it has one. Our demonstration upstream by its name. */
export function hostOf(url: string | null): string {
  if (!url) return '—';
  if (isDemo(url)) return 'echo (demo)';
  return url.replace(/^https?:\/\//, '').replace(/\/$/, '');
}

/** Whether a route is the one every workspace starts with. A route somebody made to the same upstream is not. */
export const isStarter = ({ slug, target_base_url }: { slug: string | null; target_base_url: string | null }): boolean =>
  slug === 'echo' && isDemo(target_base_url);

/** The upstream that new workspaces start with: answered by the gateway itself. */
export const isDemo = (url: string | null): boolean => url !== null && /^http:\/\/echo\.sallyport\.internal(?:\/|$)/.test(url);
