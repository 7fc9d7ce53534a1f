/**
 * How the page looks, kept in two cookies so that the server can write it on <html> before the first paint: no inline script, no flash.
 * `system` is the absence of a theme; the stylesheet then follows the operating system.
 */
const THEMES = ['system', 'light', 'dark', 'contrast'] as const;
const DENSITIES = ['comfortable', 'compact'] as const;
export type Theme = (typeof THEMES)[number];
export type Density = (typeof DENSITIES)[number];
export type Appearance = { theme: Theme; density: Density };

export const THEME_COOKIE = 'sp_theme';
export const DENSITY_COOKIE = 'sp_density';

/** Reads the two cookie values; anything unknown falls back to the default. */
export function readAppearance(theme: string | undefined, density: string | undefined): Appearance {
  return {
    theme: THEMES.find((known) => known === theme) ?? 'system',
    density: DENSITIES.find((known) => known === density) ?? 'comfortable',
  };
}

/** The attributes of <html> for an appearance. */
export function appearanceAttributes({ theme, density }: Appearance) {
  return { 'data-theme': theme === 'system' ? undefined : theme, 'data-density': density };
}
