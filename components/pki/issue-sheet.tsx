'use client';

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { revealCall } from '#components/reveals/reveal-call.ts';
import { useRevealForbidden } from '#components/reveals/use-reveal-forbidden.ts';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { handingOver } from '#components/trpc/handover.ts';
import { usePath, useScope, useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { type RevealRefusal, revealProblem } from '#components/ui/reveal-refusal.ts';
import { Select } from '#components/ui/select.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { Time } from '#components/ui/time.tsx';
import { effectiveEnd, problemsOf, type Wanted, wantedInput } from './issue-rules.ts';
import { IssuedDialog, type Shown } from './issued-dialog.tsx';
import { inPath, type Role, type Root } from './pki-labels.ts';

type Props = { root: Root; open: boolean; onClose: () => void };

/** Issues a certificate with a key of its own, which is shown once after a verification. */
export function IssueSheet({ root, open, onClose }: Props) {
  // Above the form: the key outlives the sheet, until it's stored.
  const [shown, setShown] = useState<Shown>();
  return (
    <>
      <Sheet
        open={open}
        onOpenChange={(next) => next || onClose()}
        title="Issue certificate"
        description="With a new private key, which is shown once. You confirm with a second factor."
      >
        {open && (
          <Roles
            root={root}
            onClose={onClose}
            onIssued={(issued) => {
              onClose();
              setShown(issued);
            }}
          />
        )}
      </Sheet>
      <IssuedDialog shown={shown} onGone={() => setShown(undefined)} />
    </>
  );
}

type FormProps = { root: Root; onClose: () => void; onIssued: (issued: Shown) => void };

function Roles(props: FormProps) {
  const trpc = useTRPC();
  const path = usePath();
  const roles = useQuery(trpc.pki.listRoles.queryOptions({ name: props.root.id }));
  if (roles.isError) return <QueryError query={roles} what="Roles" />;
  if (!roles.data) return <Skeleton lines={6} label="Loading roles" />;
  const [first, ...others] = roles.data.data;
  if (!first)
    return (
      <Callout
        title="This root has no roles"
        actions={
          <LinkButton size="sm" href={path(`/pki/${props.root.id}?tab=roles&role=new`)}>
            New role
          </LinkButton>
        }
      >
        A role says which names a certificate may carry. Create one first.
      </Callout>
    );
  return <IssueForm {...props} roles={[first, ...others]} />;
}

const TTL_UNITS = [
  { value: 'minute', label: 'minutes' },
  { value: 'hour', label: 'hours' },
  { value: 'day', label: 'days' },
] as const;

function IssueForm({ root, roles, onClose, onIssued }: FormProps & { roles: readonly [Role, ...Role[]] }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const { slug, space } = useScope();
  const forbidden = useRevealForbidden('pki:issue');
  const [roleId, setRoleId] = useState<string>(roles[0].id);
  const [wanted, setWanted] = useState<Wanted>({ common_name: '', san_dns: '', san_ip: '', ttl: '', ttl_unit: 'day' });
  const [reason, setReason] = useState('');
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<RevealRefusal>();
  const role = roles.find(({ id }) => id === roleId) ?? roles[0];
  const change = (more: Partial<Wanted>) => {
    setWanted((before) => ({ ...before, ...more }));
    setRefusal(undefined);
  };
  const problems = problemsOf(wanted, role);
  const input = wantedInput(wanted);
  const end = effectiveEnd({ wanted, role, intermediate: root.intermediate, test: space === 'test' });
  const submit = async () => {
    if (problems.first || busy || forbidden) return;
    setBusy(true);
    setRefusal(undefined);
    try {
      // Straight to the form: no cache may hold the answer.
      const issued = await handingOver(() =>
        client.pki.revealIssue.mutate({ name: root.id, role: role.id, ...input }, revealCall(reason.trim() || undefined)),
      );
      void queryClient.invalidateQueries(trpc.pki.pathFilter());
      onIssued({ ...issued, title: wanted.common_name.trim() || (input.san_dns ?? input.san_ip)?.[0] || issued.serial_hex });
    } catch (error) {
      const refused = { ...(error as { data?: object | null }).data, ...refusalOf(error) } as RevealRefusal;
      if (!refused.cancelled) setRefusal(refused);
    }
    setBusy(false);
  };
  const problem = refusal && revealProblem(refusal, `/${slug}/settings`);
  return (
    <form
      className="flex grow flex-col gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Field
        label="Role"
        hint={
          role.allowed_domains.length === 0
            ? 'Allows no names.'
            : `Allows ${role.allowed_domains.slice(0, 5).join(', ')}${role.allowed_domains.length > 5 ? ' and more' : ''}.`
        }
      >
        <Select options={roles.map(({ id, name }) => ({ value: id, label: name }))} value={role.id} onValueChange={setRoleId} />
      </Field>
      <Field label="Common name" optional error={problems.common_name} hint="A host name is added to the DNS names by itself.">
        <Input
          mono
          autoComplete="off"
          spellCheck={false}
          maxLength={64}
          placeholder="api.internal.example.com"
          value={wanted.common_name}
          onChange={(event) => change({ common_name: event.target.value })}
        />
      </Field>
      <Field label="DNS names" optional error={problems.san_dns} hint="One per line.">
        <Textarea mono rows={2} spellCheck={false} value={wanted.san_dns} onChange={(event) => change({ san_dns: event.target.value })} />
      </Field>
      <Field label="IP addresses" optional error={problems.san_ip} hint="One per line.">
        <Textarea mono rows={2} spellCheck={false} value={wanted.san_ip} onChange={(event) => change({ san_ip: event.target.value })} />
      </Field>
      <div className="flex items-start gap-2">
        <Field label="Lifetime" optional error={problems.ttl} hint="What the role has, when left empty." className="min-w-0 flex-1">
          <Input inputMode="numeric" value={wanted.ttl} onChange={(event) => change({ ttl: event.target.value })} />
        </Field>
        <Field label="Unit">
          <Select className="w-32" options={TTL_UNITS} value={wanted.ttl_unit} onValueChange={(ttl_unit) => change({ ttl_unit })} />
        </Field>
      </div>
      {end && (
        <p role="status" className="-mt-2 text-ink-2 text-xs">
          Ends <Time value={end.at.toISOString()} format="datetime" />
          {end.why && `, because ${end.why}`}.
        </p>
      )}
      <Field label="Reason" optional hint="It’s recorded in the audit log.">
        <Input maxLength={500} placeholder="Ticket or incident" value={reason} onChange={(event) => setReason(event.target.value)} />
      </Field>
      {problem && (
        <Callout
          tone="bad"
          title={problem.title}
          requestId={refusal?.request_id || undefined}
          actions={
            problem.href && (
              <LinkButton size="sm" href={problem.href.path}>
                {problem.href.label}
              </LinkButton>
            )
          }
        >
          {problem.next}
        </Callout>
      )}
      <ApiEquivalent method="POST" path={`/pki/roots/${inPath(root)}/issue/${inPath(role)}`} body={input} />
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" keys="mod+enter" loading={busy} disabledReason={forbidden ?? problems.first}>
            Issue certificate
          </Button>
        </div>
      </SheetFooter>
    </form>
  );
}
