'use client';

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { roleLabel } from '#components/policies/policy-words.ts';
import { useListedOperations } from '#components/trpc/listed-operations.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Combobox } from '#components/ui/combobox.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { MEMBER_ROLES } from '#server/domain/roles/catalogue.shared.ts';
import { ACTION_OPTIONS } from './policy-words.ts';
import { useCandidates } from './use-candidates.ts';

const HELD = { yes: 'Granted', own: 'Granted for what it created', reveal: 'After a verification', no: 'Not granted' } as const;

/** "Test as": may somebody do something, and what decides. */
export function TestAccess() {
  const trpc = useTRPC();
  const candidates = useCandidates();
  const operations = useListedOperations();
  const test = useMutation(trpc.policies.test.mutationOptions());
  const [who, setWho] = useState<string | null>(null);
  const [what, setWhat] = useState<string | null>(null);
  const [resource, setResource] = useState('');
  const [space, setSpace] = useState<'live' | 'test'>('live');
  const people = [
    ...MEMBER_ROLES.map((role) => ({ value: `role:${role}`, label: roleLabel(role), detail: 'Role' })),
    ...candidates.people.map((one) => ({ ...one, value: `user_id:${one.value}` })),
    ...candidates.keys.map((one) => ({ ...one, value: `api_key_id:${one.value}`, detail: `API key, ${one.detail}` })),
  ];
  const acts = [
    ...(operations.data ?? [])
      .filter(({ needs }) => needs.length > 0)
      .map(({ id, summary }) => ({ value: `operation:${id}`, label: summary, detail: id })),
    ...ACTION_OPTIONS.filter(({ value }) => !value.endsWith(':*')).map((one) => ({ ...one, value: `capability:${one.value}` })),
  ];
  const split = (text: string) => [text.slice(0, text.indexOf(':')), text.slice(text.indexOf(':') + 1)] as const;
  const choose = (next: string | null) => {
    setWho(next);
    const keySpace = next?.startsWith('api_key_id:') ? candidates.keySpace(split(next)[1]) : undefined;
    if (keySpace) setSpace(keySpace);
  };
  const run = () => {
    if (!who || !what) return;
    const [kind, id] = split(who);
    const [act, name] = split(what);
    test.mutate({ caller: { [kind]: id }, [act]: name, ...(resource.trim() ? { resource: resource.trim() } : {}), space } as never);
  };
  if (candidates.query.isError) return <QueryError query={candidates.query} what="People and keys" />;
  const { data, error } = test;
  return (
    <SectionCard title="Test access" description="Asks the rules that decide real calls. Nothing is called or changed.">
      <form
        className="grid gap-4 md:grid-cols-2"
        onSubmit={(event) => {
          event.preventDefault();
          run();
        }}
      >
        <Field label="Who" required>
          <Combobox options={people} value={who} onValueChange={choose} placeholder="A role, person or API key" />
        </Field>
        <Field label="What" required>
          <Combobox options={acts} value={what} onValueChange={setWhat} placeholder="An operation or a capability" />
        </Field>
        <Field label="On" optional hint="ID or name of a route, secret or other object.">
          <Input value={resource} onChange={(event) => setResource(event.target.value)} placeholder="prod-orders" />
        </Field>
        <Field label="Where" group>
          <Segmented
            label="Where the call is made"
            value={space}
            onValueChange={setSpace}
            options={[
              { value: 'live', label: 'Live' },
              { value: 'test', label: 'Test' },
            ]}
          />
        </Field>
        <div className="md:col-span-2">
          <Button type="submit" variant="primary" loading={test.isPending} disabledReason={who && what ? undefined : 'Choose who and what'}>
            Test access
          </Button>
        </div>
      </form>
      <div aria-live="polite" className="mt-4 flex flex-col gap-3 empty:hidden">
        {error && <Callout tone="bad" title={refusalOf(error).message} />}
        {data && (
          <>
            <Callout tone={data.allowed ? 'good' : 'warn'} title={data.message} />
            <ul className="flex flex-col gap-1.5 text-sm">
              {data.checks.map((check) => (
                <li key={check.capability} className="flex flex-wrap items-baseline gap-x-2">
                  <code className="font-mono">{check.capability}</code>
                  <span className="text-ink-2">
                    {HELD[check.held]}
                    {check.held === 'no' && check.roles.length > 0 && ` (roles with it: ${check.roles.join(', ')})`}
                    {check.policy && `, denied by policy ${check.policy.name}`}
                  </span>
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
    </SectionCard>
  );
}
