'use client';

import { useRouter } from 'next/navigation';
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useScope } from '#components/trpc/provider.tsx';
import { setSingleKeys } from '#components/ui/hotkeys.ts';
import { TimeStyleContext } from '#components/ui/time-style.ts';
import type { Preferences } from '#server/domain/people/schema.ts';
import type { Density, Theme } from './appearance.ts';
import { useAppearance } from './appearance-provider.tsx';

export type PersonPreferences = Preferences & { date_format: string | null };
type Held = { preferences: PersonPreferences; save: (change: Partial<PersonPreferences>) => void };
const PreferencesContext = createContext<Held | undefined>(undefined);

/** The preferences of the person, on every page of theirs: a change shows at once, and is kept by the server for their other browsers. */
export function PreferencesProvider({ initial, children }: { initial: PersonPreferences; children: ReactNode }) {
  const { csrf } = useScope();
  const router = useRouter();
  const { setTheme, setDensity, ...shown } = useAppearance();
  const [preferences, setPreferences] = useState(initial);
  const { theme, density, single_keys, times, date_format } = preferences;

  useEffect(() => setSingleKeys(single_keys), [single_keys]);
  // A browser that has not seen this person's choice yet has no cookie of it for the first paint.
  useEffect(() => {
    if (theme && theme !== shown.theme) setTheme(theme);
    if (density && density !== shown.density) setDensity(density);
  }, [theme, density, shown.theme, shown.density, setTheme, setDensity]);

  const held = useMemo<Held>(
    () => ({
      preferences,
      save: (change) => {
        setPreferences((now) => ({ ...now, ...change }));
        const { date_format: format, ...rest } = change;
        const body = {
          ...(format === undefined ? {} : { date_format: format }),
          ...(Object.keys(rest).length > 0 ? { preferences: rest } : {}),
        };
        import('#components/me/person-calls.ts')
          .then(({ personCall }) => personCall(csrf)('PATCH', '/auth/me', body))
          // Pages that were fetched before would bring the old choice back.
          .then(() => router.refresh())
          .catch((error: unknown) => {
            setPreferences((now) => ({ ...now, ...pick(preferences, Object.keys(change)) }));
            notifyRefused(error, 'Not saved: ');
          });
      },
    }),
    [preferences, csrf, router],
  );
  const style = useMemo(() => ({ times, date_format }), [times, date_format]);
  return (
    <PreferencesContext value={held}>
      <TimeStyleContext value={style}>{children}</TimeStyleContext>
    </PreferencesContext>
  );
}

/** `{preferences, save}` of the signed-in person. */
export function usePreferences(): Held {
  const held = useContext(PreferencesContext);
  if (!held) throw new Error('usePreferences needs PreferencesProvider above it');
  return held;
}

/** The look of the dashboard with ways to change it that the person's other browsers follow. */
export function useKeptAppearance() {
  const { save } = usePreferences();
  const { setTheme, setDensity, ...shown } = useAppearance();
  return {
    ...shown,
    setTheme: (theme: Theme) => {
      setTheme(theme);
      save({ theme });
    },
    setDensity: (density: Density) => {
      setDensity(density);
      save({ density });
    },
  };
}

const pick = (from: PersonPreferences, names: readonly string[]) =>
  Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name))) as Partial<PersonPreferences>;
