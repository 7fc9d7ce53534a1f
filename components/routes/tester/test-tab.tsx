'use client';

import { FlaskConical, Send } from 'lucide-react';
import { useState } from 'react';
import { useScope } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { refusalView } from '#components/trpc/refusal.ts';
import { Button } from '#components/ui/button.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { SectionCard } from '#components/ui/layout.tsx';
import { refusedFields } from '#components/ui/refusal.ts';
import type { RouteDetailData } from '../route-detail.tsx';
import { TrialForm } from './trial-form.tsx';
import { TrialReport } from './trial-report.tsx';
import { firstTrial, type Trial, useTrial } from './use-trial.ts';

/** Sends a request through the route as the person who is signed in. */
export function TestTab({
  route,
  env,
  readOnly,
  unsaved,
}: {
  route: RouteDetailData;
  env: string;
  readOnly: string | undefined;
  unsaved: boolean;
}) {
  const { space } = useScope();
  const [trial, setTrial] = useState<Trial>(firstTrial);
  const { report, send, pending, error } = useTrial(route.id, env);
  const refusal = error && refusalView(error);
  const problems = refusal ? byField(refusedFields(refusal, (name) => name in firstTrial)) : {};
  useHotkeys([{ keys: 'mod+enter', label: 'Send', group: 'Test', everywhere: true, run: () => readOnly || pending || send(trial, false) }]);
  return (
    <div className="flex flex-col gap-4">
      <SectionCard
        title={`Try it in ${env}`}
        description={
          space === 'live'
            ? 'A real call to the real upstream, with the real credentials of this environment. It counts against the route’s limits but not against the month, and stands in the log and the audit log under your name.'
            : 'A real call to the upstream with the credentials of this environment. It stands in the log and the audit log under your name.'
        }
        footer={
          <div className="flex flex-wrap items-center justify-end gap-2">
            {unsaved && <p className="mr-auto text-ink-2">Unsaved changes are not part of it: save them first.</p>}
            <Button icon={<FlaskConical />} loading={pending === 'dry'} disabledReason={readOnly} onClick={() => send(trial, true)}>
              Dry run
            </Button>
            <Button
              variant="primary"
              icon={<Send />}
              keys="mod+enter"
              loading={pending === 'real'}
              disabledReason={readOnly}
              onClick={() => send(trial, false)}
            >
              Send
            </Button>
          </div>
        }
      >
        <TrialForm trial={trial} onChange={setTrial} problems={problems} />
      </SectionCard>
      {Object.keys(problems).length === 0 && <MutationError error={error} />}
      {report && <TrialReport report={report} routeId={route.id} routeEnabled={route.enabled} environment={env} />}
    </div>
  );
}

/** `headers.0.name` is told at the headers. */
const byField = (problems: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(problems).map(([path, message]) => [path.split('.')[0] ?? path, message]));
