'use client';

import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from 'react';
import { type Appearance, DENSITY_COOKIE, type Density, THEME_COOKIE, type Theme } from './appearance.ts';

type Setters = { setTheme: (theme: Theme) => void; setDensity: (density: Density) => void };
const AppearanceContext = createContext<(Appearance & Setters) | undefined>(undefined);

/** Holds the person's theme and row density; a change shows at once and is remembered in a cookie for the next server render. */
export function AppearanceProvider({ initial, children }: { initial: Appearance; children: ReactNode }) {
  const [appearance, setAppearance] = useState(initial);

  const setTheme = useCallback((theme: Theme) => {
    remember(THEME_COOKIE, theme);
    if (theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    setAppearance((now) => ({ ...now, theme }));
  }, []);

  const setDensity = useCallback((density: Density) => {
    remember(DENSITY_COOKIE, density);
    document.documentElement.dataset.density = density;
    setAppearance((now) => ({ ...now, density }));
  }, []);

  const value = useMemo(() => ({ ...appearance, setTheme, setDensity }), [appearance, setTheme, setDensity]);
  return <AppearanceContext value={value}>{children}</AppearanceContext>;
}

/** `{theme, density, setTheme, setDensity}` of the person looking at the page. */
export function useAppearance() {
  const value = useContext(AppearanceContext);
  if (!value) throw new Error('useAppearance needs AppearanceProvider above it');
  return value;
}

/** A year, this site only. The value is a preference, never anything private. */
export function remember(cookie: string, value: string): void {
  const secure = location.protocol === 'https:' ? '; Secure' : '';
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in Firefox ESR and Safari before 18.4.
  document.cookie = `${cookie}=${value}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
}
