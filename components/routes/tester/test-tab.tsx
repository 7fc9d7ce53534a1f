'use client';

import { useQuery } from '@tanstack/react-query';
import { Bookmark, FlaskConical, Send } from 'lucide-react';
import { parseAsString, useQueryState } from 'nuqs';
import { useState } from 'react';
import type { Detail } from '#components/logs/trace.ts';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { MutationError, QueryError } from '#components/trpc/query-error.tsx';
import { refusalView } from '#components/trpc/refusal.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { SectionCard } from '#components/ui/layout.tsx';
import { refusedFields } from '#components/ui/refusal.ts';
import { Skeleton } from '#components/ui/skeleton.tsx';
import type { RouteDetailData } from '../route-data.ts';
import { ExamplesCard } from './examples-card.tsx';
import { replayOf } from './replay.ts';
import { ReplayNote } from './replay-note.tsx';
import { RequestForm } from './request-form.tsx';
import { SaveExample } from './save-example.tsx';
import { TestReport } from './test-report.tsx';
import { type Example, judgeAll } from './use-examples.ts';
import { emptyTestRequest, type Trial, useTestRequest } from './use-test-request.ts';
import { Verdicts } from './verdicts.tsx';

type Props = { route: RouteDetailData; env: string; readOnly: string | undefined; unsaved: boolean };

/** Sends a request through the route as the person who is signed in; filled in from a call of the log when the address names one. */
export function TestTab(props: Props) {
  const trpc = useTRPC();
  const [id] = useQueryState('call', parseAsString);
  const call = useQuery(
    trpc.requestLogs.inspect.queryOptions(
      { request_id: id ?? '' },
      { enabled: id !== null && !props.readOnly, staleTime: Number.POSITIVE_INFINITY },
    ),
  );
  if (props.readOnly) return <Callout title="Tests use this route’s credentials">{props.readOnly}</Callout>;
  if (id === null) return <Tester {...props} />;
  if (call.isPending) return <Skeleton lines={6} label="Loading request" />;
  if (call.isError)
    return (
      <>
        <QueryError query={call} what="Request" />
        <Tester {...props} />
      </>
    );
  return <Tester key={id} {...props} call={call.data} />;
}

function Tester({ route, env, unsaved, call }: Omit<Props, 'readOnly'> & { call?: Detail }) {
  const { space } = useScope();
  const label = useEnvironmentLabel();
  const [replay] = useState(() => call && replayOf(call));
  const [trial, setTrial] = useState<Trial>(replay?.trial ?? emptyTestRequest);
  const [loaded, setLoaded] = useState<Example>();
  const [keeping, setKeeping] = useState(false);
  const { report, send, pending, error } = useTestRequest(route.id, env);
  const refusal = error && refusalView(error);
  const problems = refusal ? byField(refusedFields(refusal, (name) => name in emptyTestRequest)) : {};
  const go = (dry: boolean) => send(trial, dry, [...(replay?.blank ?? []), ...blankIn(loaded)]);
  useHotkeys([{ keys: 'mod+enter', label: 'Send', group: 'Test', everywhere: true, run: () => pending || go(false) }]);
  const open = (example: Example) => {
    setLoaded(example);
    setTrial({ method: example.method, path: example.path, headers: example.headers, body: example.body });
  };
  return (
    <div className="flex flex-col gap-4">
      <ExamplesCard routeId={route.id} environment={env} onOpen={open} />
      <SectionCard
        title={loaded ? `“${loaded.name}” in ${label(env)}` : `Test in ${label(env)}`}
        description={
          space === 'live'
            ? 'Sends a real request with the live credentials of this environment. Counts toward the route’s rate limit, but not in metrics or usage. Logged under your name.'
            : 'Sends a real request with the credentials of this environment. Not counted in metrics. Logged under your name.'
        }
        footer={
          <div className="flex flex-wrap items-center justify-end gap-2">
            {unsaved && <p className="mr-auto text-ink-2">Unsaved changes aren’t tested. Save them first.</p>}
            <Button icon={<Bookmark />} variant="ghost" onClick={() => setKeeping(true)}>
              Save as example…
            </Button>
            <Button icon={<FlaskConical />} loading={pending === 'dry'} onClick={() => go(true)}>
              Dry run
            </Button>
            <Button variant="primary" icon={<Send />} keys="mod+enter" loading={pending === 'real'} onClick={() => go(false)}>
              Send
            </Button>
          </div>
        }
      >
        <div className="flex flex-col gap-4">
          {replay && call && <ReplayNote replay={replay} call={call.log} />}
          <RequestForm trial={trial} onChange={setTrial} problems={problems} />
        </div>
      </SectionCard>
      {Object.keys(problems).length === 0 && <MutationError error={error} />}
      {report && loaded && loaded.assertions.length > 0 && (
        <SectionCard title="Assertions">
          <Verdicts judged={judgeAll(loaded.assertions, report)} />
        </SectionCard>
      )}
      <SaveExample
        open={keeping}
        onClose={() => setKeeping(false)}
        onSaved={setLoaded}
        routeId={route.id}
        trial={trial}
        loaded={loaded}
        status={report?.response?.status}
      />
      {report && <TestReport report={report} routeId={route.id} routeEnabled={route.enabled} environment={env} />}
    </div>
  );
}

/** Headers of an example that are kept without their value: one that is not filled in is not sent. */
const blankIn = (example: Example | undefined): string[] =>
  example?.headers.flatMap(({ name, value }) => (value === '' ? [name] : [])) ?? [];

/** `headers.0.name` is told at the headers. */
const byField = (problems: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(problems).map(([path, message]) => [path.split('.')[0] ?? path, message]));
