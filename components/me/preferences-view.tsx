'use client';

import { useSyncExternalStore } from 'react';
import { startPages } from '#components/shell/page-choices.ts';
import { themes } from '#components/shell/top-bar-menus.tsx';
import { useKeptAppearance, usePreferences } from '#components/theme/preferences-provider.tsx';
import { Switch } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { Page, PageHeader, SectionCard } from '#components/ui/layout.tsx';
import { Select } from '#components/ui/select.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { dayText, momentText } from '#components/ui/time-style.ts';
import { NavigationCard } from './navigation-card.tsx';

/** Last used, for choices that may be left open. */
const LAST = 'last';
const FORMATS = ['iso', 'dmy', 'mdy'] as const;

/** How the dashboard looks and behaves for one person. Everything applies at once and in every browser they sign in with. */
export function PreferencesView({ workspaces }: { workspaces: readonly { id: string; name: string }[] }) {
  const { preferences, save } = usePreferences();
  const { theme, density, setTheme, setDensity } = useKeptAppearance();
  const today = useToday();
  const { times, date_format, home_workspace_id, home_space, home_page, single_keys, opportunity_mails } = preferences;
  const utc = { times: 'utc', date_format } as const;
  return (
    <Page className="max-w-3xl">
      <PageHeader title="Preferences" description="These settings apply in every workspace. Changes are saved automatically." />
      <SectionCard title="Appearance">
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
          <Field group label="Table density">
            <Segmented
              label="Table density"
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
      <SectionCard title="Dates and times">
        <div className="flex flex-col items-start gap-5">
          <Field group label="Time zone" hint="Hover over a time to see the other zone. Exports and the API always use UTC.">
            <Segmented
              label="Time zone"
              options={[
                { value: 'local', label: 'Browser time zone' },
                { value: 'utc', label: 'UTC' },
              ]}
              value={times}
              onValueChange={(next) => save({ times: next })}
            />
          </Field>
          <Field label="Date format" hint={today && `Example: ${momentText(today, { times, date_format })}`} className="w-full max-w-sm">
            <Select
              options={[
                { value: LAST, label: 'Browser default' },
                ...FORMATS.map((value) => ({ value, label: today ? dayText(today, { ...utc, date_format: value }) : value })),
              ]}
              value={date_format ?? LAST}
              onValueChange={(next) => save({ date_format: next === LAST ? null : next })}
            />
          </Field>
        </div>
      </SectionCard>
      <SectionCard title="Start page" description="Where the dashboard opens when you sign in.">
        <div className="grid gap-5 sm:grid-cols-3">
          <Field label="Workspace">
            <Select
              options={[{ value: LAST, label: 'Last used' }, ...workspaces.map(({ id, name }) => ({ value: id, label: name }))]}
              value={workspaces.some(({ id }) => id === home_workspace_id) ? (home_workspace_id ?? LAST) : LAST}
              onValueChange={(next) => save({ home_workspace_id: next === LAST ? null : next })}
            />
          </Field>
          <Field label="Space">
            <Select
              options={[
                { value: LAST, label: 'Last used' },
                { value: 'test', label: 'Test' },
                { value: 'live', label: 'Live' },
              ]}
              value={home_space ?? LAST}
              onValueChange={(next) => save({ home_space: next === LAST ? null : (next as 'test' | 'live') })}
            />
          </Field>
          <Field label="Page">
            <Select
              options={startPages.map(({ id, label }) => ({ value: id, label }))}
              value={home_page}
              onValueChange={(next) => save({ home_page: next })}
            />
          </Field>
        </div>
      </SectionCard>
      <NavigationCard />
      <SectionCard title="Email">
        <Switch
          checked={opportunity_mails}
          onCheckedChange={(on) => save({ opportunity_mails: on })}
          label="Weekly summary of opportunities"
          description="On Mondays, for each workspace where you are an Owner or Admin and hosts wait for a decision. Emails about security and billing are always sent."
        />
      </SectionCard>
      <SectionCard title="Keyboard">
        <Switch
          checked={single_keys}
          onCheckedChange={(on) => save({ single_keys: on })}
          label="Single-key shortcuts"
          description="For example, C to create, G then R for Routes, or ~ for the developer pane. Turn them off if you use dictation or trigger them by accident. Shortcuts with Ctrl or Cmd, Enter and Escape always work."
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
  return <p className="text-ink-2 text-sm">Animations follow your system setting: {reduced ? 'reduced.' : 'on.'}</p>;
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
