'use client';

import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { nextStepOf } from '#components/trpc/refusal.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { lazyTab } from '#components/ui/lazy.tsx';
import { useReadable } from './secret-picker.tsx';
import { inWords, labelOf } from './setting-labels.ts';
import type { ConfigEditor } from './use-config-editor.ts';

const ConflictPanel = lazyTab(() => import('#components/ui/conflict-panel.tsx').then((module) => module.ConflictPanel));

/** What is not saved yet, what the API would be sent, and the two ways out. It stays in view while anything is unsaved. */
export function SaveBar({ editor }: { editor: ConfigEditor }) {
  const label = useEnvironmentLabel();
  const count = Object.keys(editor.draft).length;
  const { read } = useReadable(JSON.stringify(editor.conflict?.differences ?? null));
  useHotkeys([{ keys: 'mod+enter', label: 'Save', group: 'This page', everywhere: true, run: () => count > 0 && editor.save() }]);
  return (
    <>
      {editor.warnings.map((warning) => (
        <Callout key={warning} tone="warn" title={warning} />
      ))}
      {editor.refusal && (
        <Callout tone="bad" title={editor.refusal.message} requestId={editor.refusal.request_id}>
          {nextStepOf(editor.refusal.type)}
        </Callout>
      )}
      {editor.conflict && (
        <ConflictPanel
          differences={editor.conflict.differences}
          kept={editor.conflict.kept}
          labels={Object.fromEntries(
            [...editor.conflict.differences.map(({ field }) => field), ...editor.conflict.kept].map((field) => [field, labelOf(field)]),
          )}
          show={(_, value) => (value === null && !editor.isBase ? 'Inherited' : read(inWords(value)))}
          onSave={editor.conflict.save}
          onDiscard={editor.conflict.discard}
          busy={editor.saving}
        />
      )}
      {count > 0 && !editor.conflict && (
        <section aria-label="Unsaved changes" className="popup-surface sticky bottom-4 z-20 flex flex-col gap-2 p-3">
          <div className="flex flex-wrap items-center gap-2">
            <p aria-live="polite" className="mr-auto">
              <span className="font-medium">
                {count} unsaved {count === 1 ? 'change' : 'changes'}
              </span>{' '}
              <span className="text-ink-2">
                in {label(editor.env)}
                {editor.isBase ? ' and environments that inherit it' : ''}
              </span>
            </p>
            <Button onClick={editor.discard}>Discard</Button>
            <Button variant="primary" keys="mod+enter" loading={editor.saving} onClick={editor.save}>
              Save
            </Button>
          </div>
          <ApiEquivalent method="PUT" path={`/routes/${editor.routeId}/environments/${editor.env}`} body={editor.draft} />
        </section>
      )}
    </>
  );
}
