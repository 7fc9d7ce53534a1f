'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { RotateCw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { revealCall } from '#components/reveals/reveal-call.ts';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useScope, useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Switch } from '#components/ui/choices.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { DangerRow } from '#components/ui/danger-row.tsx';
import { Field } from '#components/ui/field.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Select } from '#components/ui/select.tsx';
import { ShownOnce } from '#components/ui/shown-once.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { type AgentMode, MODES as MODE_NAMES } from '#server/domain/agents/modes.shared.ts';
import { buildLabel, type Detail, MODES } from './labels.ts';
import { gateRefusal, Refused } from './refused.tsx';

/** Who the agent is, what runs there, what looked wrong, and how it ends. */
export function SecurityTab({ agent }: { agent: Detail }) {
  return (
    <div className="flex flex-col gap-4">
      <Identity agent={agent} />
      <Mode agent={agent} />
      <Secret agent={agent} />
      <Sessions agent={agent} />
      <Tamper agent={agent} />
      <Danger agent={agent} />
    </div>
  );
}

const goneReason = ({ status }: Detail) => (status === 'revoked' ? 'This agent was revoked' : undefined);

function Identity({ agent }: { agent: Detail }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const cannotReset = useForbidden('agent:reset_fingerprint');
  const cannotUpdate = useForbidden('agent:update');
  const done = (text: string) => () => {
    notifyDone(text);
    return cache.invalidateQueries(trpc.agents.pathFilter());
  };
  const reset = useMutation(
    trpc.agents.resetFingerprint.mutationOptions({ onSuccess: done('The next session may come from a new machine') }),
  );
  const update = useMutation(trpc.agents.update.mutationOptions({ onSuccess: done('Saved') }));
  const error = reset.error ?? update.error;
  const refusal = error ? gateRefusal(error) : undefined;
  const { state, label } = buildLabel(agent.build_verified);
  return (
    <SectionCard title="Machine and build" description="The first session binds the agent to its machine. Another machine gets no session.">
      <KeyValueList
        items={[
          {
            label: 'Fingerprint',
            value: agent.fingerprint ? (
              <CopyText value={agent.fingerprint} display={`${agent.fingerprint.slice(0, 16)}…`} label="fingerprint" />
            ) : (
              'Not bound yet'
            ),
          },
          { label: 'Bound', value: <Time value={agent.fingerprint_at} empty="Never" /> },
          { label: 'Last address', value: agent.last_ip ?? '—' },
          { label: 'Build', value: <Status state={state}>{label}</Status> },
        ]}
      />
      <Switch
        label="Require a verified build"
        description="A program that isn’t one of the known builds gets no session."
        checked={agent.require_verified_build}
        disabledReason={update.isPending ? 'Saving…' : (cannotUpdate ?? goneReason(agent))}
        onCheckedChange={(require_verified_build) => update.mutate({ id: agent.id, require_verified_build })}
      />
      <div>
        <Button
          loading={reset.isPending}
          disabledReason={cannotReset ?? goneReason(agent) ?? (agent.fingerprint ? undefined : 'No machine is bound')}
          onClick={() => reset.mutate({ id: agent.id })}
        >
          Reset fingerprint
        </Button>
      </div>
      {refusal && <Refused refusal={refusal} />}
    </SectionCard>
  );
}

function Mode({ agent }: { agent: Detail }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
  const forbidden = useForbidden('agent:update');
  const [mode, setMode] = useState<AgentMode>(agent.mode);
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<ReturnType<typeof gateRefusal>>();
  const save = async () => {
    setBusy(true);
    setRefusal(undefined);
    try {
      await client.agents.update.mutate({ id: agent.id, mode }, revealCall());
      notifyDone(`The agent is in mode ${mode} with its next session`);
    } catch (error) {
      setRefusal(gateRefusal(error));
    }
    setBusy(false);
    void cache.invalidateQueries(trpc.agents.pathFilter());
  };
  return (
    <SectionCard title="Mode" description={`${MODES[mode].does} ${MODES[mode].secrets}`}>
      <div className="flex flex-wrap items-end gap-3">
        <Field label="Mode">
          <Select value={mode} onValueChange={setMode} options={MODE_NAMES.map((value) => ({ value, label: MODES[value].title }))} />
        </Field>
        <Button
          loading={busy}
          disabledReason={forbidden ?? goneReason(agent) ?? (mode === agent.mode ? 'It is in this mode' : undefined)}
          onClick={() => void save()}
        >
          Switch mode
        </Button>
      </div>
      {refusal && <Refused refusal={refusal} />}
    </SectionCard>
  );
}

const GRACE = { '0': 'At once', '60': 'In an hour', '1440': 'In a day' } as const;

function Secret({ agent }: { agent: Detail }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
  const forbidden = useForbidden('agent:update');
  const [grace, setGrace] = useState<keyof typeof GRACE>('60');
  // Nothing but this card holds the new secret, and the dialog lets go of it.
  const [secret, setSecret] = useState<string>();
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<ReturnType<typeof gateRefusal>>();
  const rotate = async () => {
    setBusy(true);
    setRefusal(undefined);
    try {
      setSecret((await client.agents.rotateSecret.mutate({ id: agent.id, grace_minutes: Number(grace) }, revealCall())).agent_secret);
    } catch (error) {
      setRefusal(gateRefusal(error));
    }
    setBusy(false);
    void cache.invalidateQueries(trpc.agents.pathFilter());
  };
  return (
    <SectionCard title="Secret" description="It is never shown again. A host that was installed by the script has its own.">
      {agent.previous_secret_expires_at && (
        <p className="text-ink-2">
          The secret before it is good until <Time value={agent.previous_secret_expires_at} format="datetime" />.
        </p>
      )}
      <div className="flex flex-wrap items-end gap-3">
        <Field label="The old one ends">
          <Select
            value={grace}
            onValueChange={setGrace}
            options={(Object.keys(GRACE) as (keyof typeof GRACE)[]).map((value) => ({ value, label: GRACE[value] }))}
          />
        </Field>
        <Button icon={<RotateCw />} loading={busy} disabledReason={forbidden ?? goneReason(agent)} onClick={() => void rotate()}>
          Rotate secret
        </Button>
      </div>
      {refusal && <Refused refusal={refusal} />}
      <ShownOnce
        value={secret}
        title="The new secret"
        label="agent secret"
        filename={`${agent.name}-secret.txt`}
        onGone={() => setSecret(undefined)}
      >
        <p className="text-ink-2 text-sm">
          Set it as <code>SVC_AGENT_SECRET</code>, with <code>SVC_AGENT_ID={agent.agent_id}</code>.
        </p>
      </ShownOnce>
    </SectionCard>
  );
}

function Sessions({ agent }: { agent: Detail }) {
  const trpc = useTRPC();
  const query = useQuery(trpc.agents.sessions.queryOptions({ id: agent.id }, { refetchInterval: 60_000 }));
  const rows = query.data?.data ?? [];
  return (
    <SectionCard title="Sessions" description="The newest 50. Each is for one window of an hour.">
      {query.isError ? (
        <QueryError query={query} what="Sessions" />
      ) : rows.length === 0 ? (
        <p className="text-ink-3">No session yet.</p>
      ) : (
        <ul className="flex flex-col divide-y divide-line">
          {rows.map((row) => (
            <li key={row.id} className="flex flex-wrap items-center gap-x-3 gap-y-0.5 py-1.5">
              <span className="figures font-mono text-xs">{row.window}</span>
              {row.open && <Badge tone="good">Open</Badge>}
              {row.revoked_at && <Badge>Ended</Badge>}
              <span className="grow text-ink-3 text-xs">
                <Time value={row.issued_at} /> from {row.ip ?? 'an unknown address'}
                {row.version && `, version ${row.version}`}
              </span>
            </li>
          ))}
        </ul>
      )}
    </SectionCard>
  );
}

const KINDS = {
  unknown_build: 'Unknown build',
  fingerprint_mismatch: 'Another machine',
  bad_bundle: 'Bundle with a bad signature',
} as const;

function Tamper({ agent }: { agent: Detail }) {
  const trpc = useTRPC();
  const query = useQuery(trpc.agents.tamperEvents.queryOptions({ id: agent.id }));
  const rows = query.data?.data ?? [];
  return (
    <SectionCard title="Tamper events" description="What didn’t fit: a changed program, another machine, a changed bundle.">
      {query.isError ? (
        <QueryError query={query} what="Tamper events" />
      ) : rows.length === 0 ? (
        <p className="text-ink-3">None.</p>
      ) : (
        <ul className="flex flex-col divide-y divide-line">
          {rows.map((row) => (
            <li key={row.id} className="flex flex-wrap items-center gap-x-3 gap-y-0.5 py-1.5">
              <span>{KINDS[row.kind]}</span>
              <Badge tone={row.action_taken === 'refused' ? 'bad' : 'warn'}>{row.action_taken === 'refused' ? 'Refused' : 'Alerted'}</Badge>
              <span className="grow text-ink-3 text-xs">
                <Time value={row.detected_at} /> from {row.src_ip ?? 'an unknown address'}
                {row.version_reported && `, version ${row.version_reported}`}
              </span>
            </li>
          ))}
        </ul>
      )}
    </SectionCard>
  );
}

function Danger({ agent }: { agent: Detail }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space } = useScope();
  const forbidden = useForbidden('agent:revoke');
  const [asking, setAsking] = useState(false);
  const revoke = useMutation(
    trpc.agents.delete.mutationOptions({
      onSuccess: () => {
        notifyDone(`${agent.name} revoked`);
        setAsking(false);
        void cache.invalidateQueries(trpc.account.pathFilter());
        return cache.invalidateQueries(trpc.agents.pathFilter());
      },
    }),
  );
  return (
    <SectionCard title="Danger zone" tone="danger">
      <DangerRow
        title="Revoke the agent"
        text="Ends its sessions at once. It wipes its cache and stops, at the latest with its next heartbeat."
      >
        <Button variant="danger-quiet" icon={<Trash2 />} disabledReason={forbidden ?? goneReason(agent)} onClick={() => setAsking(true)}>
          Revoke agent
        </Button>
      </DangerRow>
      <ConfirmDanger
        open={asking}
        onOpenChange={(next) => {
          if (next) return;
          revoke.reset();
          setAsking(false);
        }}
        title={`Revoke ${agent.name}?`}
        consequences={[
          agent.mode === 'control' ? 'It runs no more scans or checks.' : `Calls of its host to ${counted(agent.routes, 'route')} stop.`,
          'Its sessions and open install tokens end at once. This can’t be undone.',
          'Its entry and its audit trail stay.',
        ]}
        confirmLabel="Revoke agent"
        resourceName={agent.name}
        space={space}
        busy={revoke.isPending}
        error={revoke.error ? refusalOf(revoke.error) : undefined}
        onConfirm={() => revoke.mutate({ id: agent.id })}
      >
        <ApiEquivalent method="DELETE" path={`/agents/${agent.id}`} />
      </ConfirmDanger>
    </SectionCard>
  );
}
