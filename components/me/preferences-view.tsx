'use client';

import { useSyncExternalStore } from 'react';
import { navigation } from '#components/shell/navigation.ts';
import { themes } from '#components/shell/top-bar-menus.tsx';
import { useKeptAppearance, usePreferences } from '#components/theme/preferences-provider.tsx';
import { Switch } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { Page, PageHeader, SectionCard } from '#components/ui/layout.tsx';
import { Select } from '#components/ui/select.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { dayText, momentText } from '#components/ui/time-style.ts';
import { LANDING_PAGES } from '#server/domain/people/places.shared.ts';
import { NavigationCard } from './navigation-card.tsx';

/** Last used, for choices that may be left open. */
const LAST = 'last';
const pages = navigation.flatMap((group) => group.items);
const FORMATS = ['iso', 'dmy', 'mdy'] as const;

/** How the dashboard looks and behaves for one person. Everything applies at once and in every browser they sign in with. */
export function PreferencesView({ workspaces }: { workspaces: readonly { id: string; name: string }[] }) {
  const { preferences, save } = usePreferences();
  const { theme, density, setTheme, setDensity } = useKeptAppearance();
  const today = useToday();
  const { times, date_format, home_workspace_id, home_space, home_page, single_keys } = preferences;
  const utc = { times: 'utc', date_format } as const;
  return (
    <Page className="max-w-3xl">
      <PageHeader title="Preferences" description="Yours alone, in every workspace and browser. Each choice is kept as you make it." />
      <SectionCard title="Look">
        <div className="flex flex-col items-start gap-5">
          <Field group label="Theme">
            <Segmented
              label="Theme"
              options={themes.map(({ theme: value, label, icon: Icon }) => ({
                value,
                label,
                icon: <Icon aria-hidden className="max-sm:hidden" />,
              }))}
              value={theme}
              onValueChange={setTheme}
            />
          </Field>
          <Field group label="Rows of tables">
            <Segmented
              label="Rows of tables"
              options={[
                { value: 'comfortable', label: 'Comfortable' },
                { value: 'compact', label: 'Compact' },
              ]}
              value={density}
              onValueChange={setDensity}
            />
          </Field>
          <MotionNote />
        </div>
      </SectionCard>
      <SectionCard title="Times and dates">
        <div className="flex flex-col items-start gap-5">
          <Field group label="Times" hint="The other one is shown when you point at a time. Exports and the API are always in UTC.">
            <Segmented
              label="Times"
              options={[
                { value: 'local', label: 'In the zone of my browser' },
                { value: 'utc', label: 'In UTC' },
              ]}
              value={times}
              onValueChange={(next) => save({ times: next })}
            />
          </Field>
          <Field
            label="Days"
            hint={today && `A moment then reads ${momentText(today, { times, date_format })}.`}
            className="w-full max-w-sm"
          >
            <Select
              options={[
                { value: LAST, label: 'As my browser’s language has it' },
                ...FORMATS.map((value) => ({ value, label: today ? dayText(today, { ...utc, date_format: value }) : value })),
              ]}
              value={date_format ?? LAST}
              onValueChange={(next) => save({ date_format: next === LAST ? null : next })}
            />
          </Field>
        </div>
      </SectionCard>
      <SectionCard title="Where the dashboard opens" description="After signing in, and at its bare address.">
        <div className="grid gap-5 sm:grid-cols-3">
          <Field label="Workspace">
            <Select
              options={[{ value: LAST, label: 'The one used last' }, ...workspaces.map(({ id, name }) => ({ value: id, label: name }))]}
              value={workspaces.some(({ id }) => id === home_workspace_id) ? (home_workspace_id ?? LAST) : LAST}
              onValueChange={(next) => save({ home_workspace_id: next === LAST ? null : next })}
            />
          </Field>
          <Field label="Space">
            <Select
              options={[
                { value: LAST, label: 'The one used last' },
                { value: 'test', label: 'Test' },
                { value: 'live', label: 'Live' },
              ]}
              value={home_space ?? LAST}
              onValueChange={(next) => save({ home_space: next === LAST ? null : (next as 'test' | 'live') })}
            />
          </Field>
          <Field label="Page">
            <Select
              options={LANDING_PAGES.map((value) => ({ value, label: pages.find(({ id }) => id === value)?.label ?? value }))}
              value={home_page}
              onValueChange={(next) => save({ home_page: next })}
            />
          </Field>
        </div>
      </SectionCard>
      <NavigationCard />
      <SectionCard title="Keyboard">
        <Switch
          checked={single_keys}
          onCheckedChange={(on) => save({ single_keys: on })}
          label="Shortcuts of a single key"
          description="Such as C to create, G then R for Routes, ~ for the developer pane. Switch them off if you dictate, or if keys are pressed by accident. Shortcuts with Ctrl or Cmd, Enter and Escape always work."
        />
      </SectionCard>
    </Page>
  );
}

const query = '(prefers-reduced-motion: reduce)';

function MotionNote() {
  const reduced = useSyncExternalStore(
    (notify) => {
      const media = window.matchMedia(query);
      media.addEventListener('change', notify);
      return () => media.removeEventListener('change', notify);
    },
    () => window.matchMedia(query).matches,
    () => false,
  );
  return (
    <p className="text-ink-2 text-sm">
      Motion follows your system: {reduced ? 'it asks for less, so nothing here moves.' : 'it has no objection, so panels slide in.'}
    </p>
  );
}

/** The moment the page was opened; undefined on the server, whose zone is not the reader's. */
function useToday(): Date | undefined {
  return useSyncExternalStore(
    () => () => undefined,
    () => opened,
    () => undefined,
  );
}
const opened = new Date();
