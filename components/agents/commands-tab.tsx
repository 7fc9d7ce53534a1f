'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { CommandResult } from './command-result.tsx';
import { COMMAND_LABELS, COMMAND_STATES, type Command, type Detail } from './labels.ts';
import { gateRefusal, Refused } from './refused.tsx';

const ABOUT = {
  doctor: 'Checks clock, network, session and listeners.',
  refresh: 'Fetches a new session and bundle now.',
  update: 'Installs the program that this deployment serves, if its signature is good.',
} as const;

/** Sends commands to the agent, and shows what came back. */
export function CommandsTab({ agent }: { agent: Detail }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const forbidden = useForbidden('agent:update');
  const [paths, setPaths] = useState('');
  const [env, setEnv] = useState(true);
  const [connections, setConnections] = useState(true);
  const query = useQuery(
    trpc.agents.commands.queryOptions(
      { id: agent.id },
      {
        refetchInterval: ({ state }) => (state.data?.data.some(({ status }) => status === 'queued' || status === 'sent') ? 2_000 : 30_000),
      },
    ),
  );
  const send = useMutation(
    trpc.agents.sendCommandTo.mutationOptions({
      onSuccess: ({ command }) => notifyDone(`${COMMAND_LABELS[command]} is on its way`),
      onSettled: () => cache.invalidateQueries(trpc.agents.commands.queryFilter({ id: agent.id })),
    }),
  );
  const refusal = send.error ? gateRefusal(send.error) : undefined;
  const reason = forbidden ?? (agent.status === 'revoked' ? 'This agent was revoked' : undefined);
  const listed = paths
    .split(/[\n,]+/)
    .map((one) => one.trim())
    .filter(Boolean);
  const wrong = listed.some((one) => !one.startsWith('/'));
  return (
    <div className="flex flex-col gap-4">
      <SectionCard title="Run a command" description="The agent takes it at once while it’s connected, otherwise with its next heartbeat.">
        <ul className="flex flex-col divide-y divide-line">
          {(['doctor', 'refresh', 'update'] as const).map((command) => (
            <li key={command} className="flex flex-wrap items-center justify-between gap-2 py-2">
              <span>
                <span className="font-medium">{COMMAND_LABELS[command]}</span>
                <span className="block text-ink-3 text-xs">{ABOUT[command]}</span>
              </span>
              <Button size="sm" disabledReason={reason} loading={send.isPending} onClick={() => send.mutate({ id: agent.id, command })}>
                {`Run ${command}`}
              </Button>
            </li>
          ))}
        </ul>
        <form
          className="flex flex-col gap-3 border-line border-t pt-3"
          onSubmit={(event) => {
            event.preventDefault();
            if (wrong || reason) return;
            send.mutate({ id: agent.id, command: 'scan', args: { ...(listed.length > 0 ? { paths: listed } : {}), env, connections } });
          }}
        >
          <Field
            label="Scan these folders"
            optional
            error={wrong ? 'must be absolute paths, such as /srv/app' : undefined}
            hint="Separated by commas. Values never leave the host: four characters and a digest are reported."
          >
            <Input mono value={paths} placeholder="/srv/app, /etc/app" onChange={(event) => setPaths(event.target.value)} />
          </Field>
          <div className="flex flex-wrap items-center gap-x-5 gap-y-2">
            <Checkbox checked={env} onCheckedChange={setEnv} label="Environments of processes" />
            <Checkbox checked={connections} onCheckedChange={setConnections} label="Open database connections" />
            <Button type="submit" size="sm" className="ml-auto" disabledReason={reason} loading={send.isPending}>
              Run scan
            </Button>
          </div>
        </form>
        {refusal && <Refused refusal={refusal} />}
      </SectionCard>
      <SectionCard title="Results" description="The newest 50.">
        {query.isError ? (
          <QueryError query={query} what="Commands" />
        ) : !query.data ? (
          <Skeleton lines={3} label="Loading commands" />
        ) : query.data.data.length === 0 ? (
          <p className="text-ink-3">No command was sent yet.</p>
        ) : (
          <ul className="flex flex-col divide-y divide-line">
            {query.data.data.map((command) => (
              <Row key={command.id} command={command} />
            ))}
          </ul>
        )}
      </SectionCard>
    </div>
  );
}

function Row({ command }: { command: Command }) {
  const { state, label } = COMMAND_STATES[command.status];
  const finished = command.status === 'succeeded' || command.status === 'failed';
  const line = (
    <span className="inline-flex flex-wrap items-center gap-x-3 gap-y-0.5">
      <span className="font-medium">{COMMAND_LABELS[command.command]}</span>
      <Status state={state}>{label}</Status>
      <span className="text-ink-3 text-xs">
        <Time value={command.created_at} /> by {command.requested_by}
      </span>
    </span>
  );
  if (!finished) return <li className="py-2">{line}</li>;
  return (
    <li className="py-2">
      <details>
        <summary className="cursor-pointer">{line}</summary>
        <div className="mt-2 pl-4">
          <CommandResult command={command} />
        </div>
      </details>
    </li>
  );
}
