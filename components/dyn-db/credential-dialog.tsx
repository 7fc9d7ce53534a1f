'use client';

import { useQueryClient } from '@tanstack/react-query';
import { usePathname } from 'next/navigation';
import { type FormEvent, useState } from 'react';
import { revealCall } from '#components/reveals/reveal-call.ts';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { isPlanRefusal, PlanPanel } from '#components/trpc/plan.tsx';
import { useScope, useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import { nextStepOf, refusalOf } from '#components/trpc/refusal.ts';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { type RevealRefusal, revealProblem } from '#components/ui/reveal-refusal.ts';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { ShownOnce } from '#components/ui/shown-once.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { type Credential, connectCommands } from './connect-commands.ts';
import { Countdown } from './countdown.tsx';
import { type Connection, nextStepFor, type Role } from './labels.ts';
import { secondsIn, ttlText } from './ttl-text.ts';

type Props = { open: boolean; connection: Connection; role: Role | undefined; onClose: () => void };

/** Makes a database user for the person who asks, after a verification, and shows its password once. */
export function CredentialDialog({ open, connection, role, onClose }: Props) {
  // Nothing but this dialog holds the answer, and closing it lets go of it.
  const [credential, setCredential] = useState<Credential>();
  return (
    <>
      <Sheet
        open={open && credential === undefined}
        onOpenChange={(next) => next || onClose()}
        title="Get credential"
        description={`A new database user of ${role?.name ?? 'the role'} on ${connection.name}, recorded in the audit log with your name.`}
      >
        {open && role && !credential && <AskForm connection={connection} role={role} onClose={onClose} onCredential={setCredential} />}
      </Sheet>
      <ShownCredential
        credential={credential}
        connection={connection}
        onGone={() => {
          setCredential(undefined);
          onClose();
        }}
      />
    </>
  );
}

type AskProps = { connection: Connection; role: Role; onClose: () => void; onCredential: (credential: Credential) => void };

function AskForm({ connection, role, onClose, onCredential }: AskProps) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
  const { space } = useScope();
  const [ttl, setTtl] = useState('');
  const [reason, setReason] = useState('');
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<RevealRefusal>();
  const seconds = ttl.trim() === '' ? undefined : secondsIn(ttl);
  const wrong = ttl.trim() !== '' && (seconds === undefined || seconds < 1);
  const wanted = { ...(seconds === undefined ? {} : { ttl_seconds: seconds }) };
  const ask = async (event: FormEvent) => {
    event.preventDefault();
    if (wrong || busy) return;
    setBusy(true);
    setRefusal(undefined);
    try {
      // Straight to the server: no cache may keep the answer.
      const call = revealCall(reason.trim() === '' ? undefined : reason.trim());
      onCredential(await client.dynDb.reveal_mint.mutate({ connection: connection.name, role: role.name, ...wanted }, call));
    } catch (error) {
      const refused = refusalIn(error);
      if (!refused.cancelled) setRefusal(refused);
    }
    setBusy(false);
    void cache.invalidateQueries(trpc.dynDb.pathFilter());
  };
  return (
    <form className="flex grow flex-col gap-4" onSubmit={(event) => void ask(event)}>
      <Field
        label="Lifetime"
        optional
        error={wrong ? 'must be a time such as 15m, 8h or 7d' : undefined}
        hint={`Cut to what the role and the connection allow${space === 'test' ? ', and to one hour in Test' : ''}.`}
      >
        <Input
          value={ttl}
          placeholder={ttlText(role.default_ttl_seconds ?? connection.default_ttl_seconds)}
          onChange={(event) => setTtl(event.target.value)}
        />
      </Field>
      <Field label="Reason" optional hint="Recorded in the audit log.">
        <Input value={reason} maxLength={500} placeholder="Ticket or incident" onChange={(event) => setReason(event.target.value)} />
      </Field>
      {refusal && <Refused refusal={refusal} />}
      <ApiEquivalent method="POST" path={`/dyn-db-credentials/${connection.name}/creds/${role.name}`} body={wanted} />
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" loading={busy} disabledReason={wrong ? 'Correct the lifetime first' : undefined}>
            Get credential
          </Button>
        </div>
      </SheetFooter>
    </form>
  );
}

/** What the server says of its own database is told with what to look at; what the gate says, as everywhere. */
const ON_SERVER = ['database_unreachable', 'database_error', 'database_timeout', 'ssh_host_key_mismatch'];

function refusalIn(error: unknown): RevealRefusal {
  const { cancelled, policy_action } = ((error as { data?: object | null } | null)?.data ?? {}) as Partial<RevealRefusal>;
  const { code, message, request_id, retry_after } = refusalOf(error);
  return { code, message, request_id, retry_after, cancelled, policy_action };
}

function Refused({ refusal }: { refusal: RevealRefusal }) {
  const here = usePathname();
  const problem = revealProblem(refusal, `/${here.split('/')[1] ?? ''}/settings`);
  if (isPlanRefusal({ type: refusal.code }))
    return <PlanPanel refusal={{ type: refusal.code, message: refusal.message, request_id: refusal.request_id }} />;
  const back = problem.href?.path === '/me/security' ? `?next=${encodeURIComponent(here)}` : '';
  return (
    <Callout
      tone={ON_SERVER.includes(refusal.code) ? 'bad' : 'warn'}
      title={problem.title}
      requestId={refusal.request_id || undefined}
      actions={
        problem.href && (
          <LinkButton size="sm" href={`${problem.href.path}${back}`}>
            {problem.href.label}
          </LinkButton>
        )
      }
    >
      {ON_SERVER.includes(refusal.code) ? nextStepFor(refusal.message) : problem.next || nextStepOf(refusal.code)}
    </Callout>
  );
}

type ShownProps = { credential: Credential | undefined; connection: Connection; onGone: () => void };

function ShownCredential({ credential, connection, onGone }: ShownProps) {
  const iam = connection.execution_mode === 'iam';
  return (
    <ShownOnce
      value={credential?.password}
      title="Your database credential"
      label={iam ? 'token' : 'password'}
      filename={`${connection.name}-${credential?.role_name ?? 'role'}.txt`}
      onGone={onGone}
    >
      {credential && (
        <>
          <KeyValueList
            items={[
              { label: 'User', value: credential.username, copy: credential.username },
              { label: 'Expires in', value: <Countdown until={credential.expires_at} over="Expired" /> },
            ]}
          />
          <CodeBlock wrap title="Connect" snippets={connectCommands(credential, { iam, options: connection.connect_options })} />
          <RevokeNow credential={credential} iam={iam} onGone={onGone} />
        </>
      )}
    </ShownOnce>
  );
}

function RevokeNow({ credential, iam, onGone }: { credential: Credential; iam: boolean; onGone: () => void }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<{ message: string; request_id: string }>();
  const revoke = async () => {
    setBusy(true);
    try {
      await client.dynDb.revoke.mutate({ id: String(credential.lease_id) });
      notifyDone('The user is removed');
      onGone();
    } catch (error) {
      setFailed(refusalOf(error));
      setBusy(false);
    }
    void cache.invalidateQueries(trpc.dynDb.pathFilter());
  };
  // A token that was signed can't be taken back.
  if (iam) return null;
  return (
    <>
      <div>
        <Button size="sm" variant="danger-quiet" loading={busy} onClick={() => void revoke()}>
          Revoke now
        </Button>
      </div>
      {failed && (
        <Callout tone="bad" title={failed.message} requestId={failed.request_id || undefined}>
          {nextStepFor(failed.message)} The service goes on trying by itself.
        </Callout>
      )}
    </>
  );
}
