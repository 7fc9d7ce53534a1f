'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { useUnsavedGuard } from '#components/ui/form.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { UpdateRoute } from '#server/domain/routes/schema.ts';
import { BodyEditor } from './body-editor.tsx';
import type { ConfigEditor } from './use-config-editor.ts';

type Entries = readonly Record<string, unknown>[];
const EXAMPLE = { POST: { timeout_ms: 60_000, rate_limit_enabled: true, rate_limit_requests: 10, rate_limit_window_sec: 60 } };

/** The entries of single methods on the base configuration, as the JSON object keyed by method that the API takes. */
export function MethodSettings({ editor, stored }: { editor: ConfigEditor; stored: Entries }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const [edited, setEdited] = useState<Record<string, unknown>>(() => keyed(stored));
  const dirty = JSON.stringify(edited) !== JSON.stringify(keyed(stored));
  useUnsavedGuard(dirty);
  const update = useMutation(
    trpc.routes.update.mutationOptions({
      onSuccess: () => {
        notifyDone('Saved. Calls of these methods use it from now on.');
        return cache.invalidateQueries(trpc.routes.pathFilter());
      },
    }),
  );
  const checked = UpdateRoute.safeParse({ id: editor.routeId, method_configs: edited });
  const issue = checked.success ? undefined : checked.error.issues[0];
  return (
    <div className="flex flex-col gap-3">
      <BodyEditor
        label="Settings by method"
        rows={6}
        value={edited}
        onChange={setEdited}
        disabled={editor.readOnly !== undefined}
        environment={editor.env}
      />
      {issue && (
        <p role="alert" className="text-bad-ink text-xs">
          {issue.path.slice(1).join('.')} {issue.message}
        </p>
      )}
      <MutationError error={update.error} />
      <ApiEquivalent method="PATCH" path={`/routes/${editor.routeId}`} body={{ method_configs: edited }} />
      <div className="flex flex-wrap justify-end gap-2">
        {Object.keys(edited).length === 0 && !editor.readOnly && (
          <Button variant="ghost" onClick={() => setEdited(EXAMPLE)}>
            Start from an example
          </Button>
        )}
        {dirty && <Button onClick={() => setEdited(keyed(stored))}>Discard</Button>}
        <Button
          variant="primary"
          loading={update.isPending}
          disabledReason={editor.readOnly ?? (issue ? 'Mend what is marked first' : dirty ? undefined : 'Nothing has changed')}
          onClick={() => checked.success && update.mutate({ id: editor.routeId, method_configs: checked.data.method_configs ?? null })}
        >
          Save method settings
        </Button>
      </div>
    </div>
  );
}

const keyed = (entries: Entries): Record<string, unknown> =>
  Object.fromEntries(entries.map(({ method, ...entry }) => [String(method), entry]));
