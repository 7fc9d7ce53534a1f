'use client';

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Countdown } from '#components/dyn-db/countdown.tsx';
import { revealCall } from '#components/reveals/reveal-call.ts';
import { useRevealForbidden } from '#components/reveals/use-reveal-forbidden.ts';
import { useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { CodeBlock, type Snippet } from '#components/ui/code-block.tsx';
import { CopyButton } from '#components/ui/copy.tsx';
import { Field } from '#components/ui/field.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Select } from '#components/ui/select.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { CommandResult } from './command-result.tsx';
import { COMMAND_STATES, type Detail, type Snippets } from './labels.ts';
import { gateRefusal, Refused } from './refused.tsx';

type Token = { token: string; expires_at: string; install: Snippets };
const MINUTES = ['5', '15', '30', '60'] as const;

/** A token, the command that uses it, and the wait for the first heartbeat. */
export function InstallTab({ agent }: { agent: Detail }) {
  // Nothing but this tab holds the token, and leaving lets go of it.
  const [token, setToken] = useState<Token>();
  const [was] = useState(agent.connectivity);
  if (agent.status === 'revoked') return <Callout title="This agent was revoked">It can’t be installed again. Create a new one.</Callout>;
  return (
    <div className="flex flex-col gap-4">
      <NewToken agent={agent} token={token} onToken={setToken} />
      {token && <Commands token={token} />}
      {(token || was === 'never_connected') && <Waiting agent={agent} justNow={was !== 'online'} />}
      <Tokens agent={agent} />
    </div>
  );
}

type NewTokenProps = { agent: Detail; token: Token | undefined; onToken: (token: Token | undefined) => void };

function NewToken({ agent, token, onToken }: NewTokenProps) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
  const forbidden = useRevealForbidden('agent:create_server');
  const [minutes, setMinutes] = useState<(typeof MINUTES)[number]>('15');
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<ReturnType<typeof gateRefusal>>();
  const create = async () => {
    setBusy(true);
    setRefusal(undefined);
    try {
      onToken(await client.agents.createInstallToken.mutate({ id: agent.id, ttl_minutes: Number(minutes) }, revealCall()));
    } catch (error) {
      setRefusal(gateRefusal(error));
    }
    setBusy(false);
    void cache.invalidateQueries(trpc.agents.installTokens.queryFilter({ id: agent.id }));
  };
  return (
    <SectionCard
      title="1. Install token"
      description="One host enrols with it, once. It replaces the secret that the agent has now. You confirm who you are first."
    >
      {token ? (
        <div className="flex flex-wrap items-center gap-3">
          <code className="min-w-0 max-w-full truncate rounded-sm bg-subtle px-2 py-1 font-mono text-xs">{token.token.slice(0, 12)}…</code>
          <CopyButton value={token.token} label="install token" text="Copy token" />
          <span className="text-ink-2 text-sm">
            Ends in <Countdown until={token.expires_at} over="Expired" />
          </span>
          <Button size="sm" onClick={() => onToken(undefined)}>
            Hide
          </Button>
        </div>
      ) : (
        <div className="flex flex-wrap items-end gap-3">
          <Field label="Good for">
            <Select value={minutes} onValueChange={setMinutes} options={MINUTES.map((value) => ({ value, label: `${value} minutes` }))} />
          </Field>
          <Button variant="primary" loading={busy} disabledReason={forbidden} onClick={() => void create()}>
            Create install token
          </Button>
        </div>
      )}
      {refusal && <Refused refusal={refusal} />}
    </SectionCard>
  );
}

function Commands({ token: { install } }: { token: Token }) {
  const snippets: readonly [Snippet, ...Snippet[]] = [
    { id: 'shell', label: 'Shell', language: 'bash', code: install.shell },
    { id: 'systemd', label: 'systemd', language: 'bash', code: install.systemd },
    { id: 'compose', label: 'Docker Compose', language: 'text', code: install.compose },
    { id: 'kubernetes', label: 'Kubernetes', language: 'text', code: install.kubernetes },
  ];
  return (
    <SectionCard
      title="2. Run this on the host"
      description="The script asks for the token, or reads it from SVC_INSTALL_TOKEN. It takes no token as an argument."
    >
      <CodeBlock wrap snippets={snippets} />
      <p className="text-ink-3 text-xs">
        The script checks the signature of the program before it installs anything. Node.js 20 or newer is needed.
      </p>
    </SectionCard>
  );
}

/** Turns green with the first heartbeat, and then shows what doctor finds. */
function Waiting({ agent, justNow }: { agent: Detail; justNow: boolean }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const online = agent.connectivity === 'online';
  const mayRun = useForbidden('agent:update') === undefined;
  const [asked, setAsked] = useState<string>();
  useEffect(() => {
    if (!online || !justNow || !mayRun || asked !== undefined) return;
    setAsked('');
    client.agents.sendCommandTo.mutate({ id: agent.id, command: 'doctor' }).then(
      ({ id }) => setAsked(id),
      () => undefined,
    );
  }, [online, justNow, mayRun, asked, client, agent.id]);
  const commands = useQuery(trpc.agents.commands.queryOptions({ id: agent.id }, { enabled: Boolean(asked), refetchInterval: 2_000 }));
  const doctor = commands.data?.data.find(({ id }) => id === asked);
  return (
    <SectionCard title="3. First heartbeat">
      <div role="status" className="flex flex-col gap-3">
        {online ? <Status state="ok">The agent is connected</Status> : <Status state="pending">Waiting for the agent…</Status>}
        {doctor &&
          (doctor.output ? (
            <CommandResult command={doctor} />
          ) : (
            <Status state={COMMAND_STATES[doctor.status].state}>Doctor: {COMMAND_STATES[doctor.status].label.toLowerCase()}</Status>
          ))}
      </div>
    </SectionCard>
  );
}

function Tokens({ agent }: { agent: Detail }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
  const forbidden = useForbidden('agent:update');
  const query = useQuery(trpc.agents.installTokens.queryOptions({ id: agent.id }, { refetchInterval: 15_000 }));
  const [refusal, setRefusal] = useState<ReturnType<typeof gateRefusal>>();
  const rows = query.data?.data ?? [];
  const revoke = async (tokenId: string) => {
    setRefusal(undefined);
    try {
      await client.agents.revokeInstallToken.mutate({ id: agent.id, tokenId });
      notifyDone('Install token revoked');
    } catch (error) {
      setRefusal(gateRefusal(error));
    }
    void cache.invalidateQueries(trpc.agents.installTokens.queryFilter({ id: agent.id }));
  };
  if (query.isError) return <QueryError query={query} what="Install tokens" />;
  if (rows.length === 0) return null;
  return (
    <SectionCard title="Install tokens">
      <ul className="flex flex-col divide-y divide-line">
        {rows.map((row) => {
          const open = !row.used_at && !row.revoked_at && Date.parse(row.expires_at) > Date.now();
          return (
            <li key={row.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2">
              <span className="font-mono text-xs">{row.prefix}…</span>
              <Badge tone={open ? 'accent' : 'neutral'}>
                {row.revoked_at ? 'Revoked' : row.used_at ? 'Used' : open ? 'Open' : 'Expired'}
              </Badge>
              <span className="grow text-ink-3 text-xs">
                {row.used_at ? (
                  <>
                    <Time value={row.used_at} /> from {row.used_from_ip ?? 'an unknown address'}
                  </>
                ) : (
                  <Time value={row.created_at} />
                )}
              </span>
              {open && (
                <Button size="sm" variant="danger-quiet" disabledReason={forbidden} onClick={() => void revoke(row.id)}>
                  Revoke
                </Button>
              )}
            </li>
          );
        })}
      </ul>
      {refusal && <Refused refusal={refusal} />}
    </SectionCard>
  );
}
