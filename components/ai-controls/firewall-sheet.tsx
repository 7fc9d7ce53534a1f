'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Plus, Trash2 } from 'lucide-react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useUnsavedIn } from '#components/trpc/form-draft.ts';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { CreateFirewallPolicy, FIREWALL_ACTIONS } from '#server/domain/ai-controls/schema.ts';
import { FIREWALL_HINTS, FIREWALL_LABELS, type FirewallRow } from './labels.ts';

const FORM = 'firewall-form';
const LABELS = { name: 'Name', action: 'Action', heuristics: 'Own rules', canary_enabled: 'Canary' };
const valuesOf = ({ name, action, heuristics, canary_enabled }: FirewallRow) => ({ name, action, heuristics, canary_enabled });

/** `from` is the version that a new one begins with. */
type SheetProps = { open: boolean; policy: FirewallRow | undefined; from: FirewallRow | undefined; onClose: () => void };

/** Makes a policy, a version of one, or changes one in place. */
export function FirewallSheet({ open, policy, from, onClose }: SheetProps) {
  const readOnly = useForbidden('ai_gateway:update');
  const [dirty, setDirty] = useUnsavedIn(open);
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      title={policy ? `${policy.name}, version ${policy.version}` : from ? `New version of ${from.name}` : 'New firewall policy'}
      description={policy ? undefined : 'Attach it to agents on their Firewall tab. Agents stay on the version they name.'}
      dismissible={!dirty}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={FORM} keys="mod+enter" disabledReason={readOnly}>
            {policy ? 'Save' : from ? 'Create version' : 'Create policy'}
          </Button>
        </>
      }
    >
      {open && (
        <Fields
          key={policy?.id ?? `new-${from?.id ?? ''}`}
          policy={policy}
          from={from}
          onDirty={setDirty}
          onDone={() => {
            setDirty(false);
            onClose();
          }}
        />
      )}
    </Sheet>
  );
}

type FieldsProps = Omit<SheetProps, 'open' | 'onClose'> & { onDirty: (dirty: boolean) => void; onDone: () => void };

function Fields({ policy, from, onDirty, onDone }: FieldsProps) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const base = policy ?? from;
  const form = useZodForm({
    schema: CreateFirewallPolicy,
    defaultValues: base ? valuesOf(base) : { name: '', action: 'warn', heuristics: [], canary_enabled: false },
  });
  const { refusal, panel, refuse, clear, started, forget } = useFormRefusal(form, {
    row: policy,
    values: valuesOf,
    labels: LABELS,
    draft: { name: `ai-firewall-policies/${policy?.id ?? 'new'}` },
    onNothingLeft: onDone,
  });
  const saved = async (row: FirewallRow) => {
    forget();
    notifyDone(policy ? 'Saved' : `${row.name}, version ${row.version} created`);
    await cache.invalidateQueries(trpc.aiControls.pathFilter());
    onDone();
  };
  const create = useMutation(trpc.aiControls.createFirewallPolicy.mutationOptions({ onSuccess: saved, onError: refuse }));
  const update = useMutation(trpc.aiControls.updateFirewallPolicy.mutationOptions({ onSuccess: saved, onError: refuse }));
  const values = form.watch();
  useUnsavedGuard(form.formState.isDirty, onDirty);
  const rules = values.heuristics ?? [];
  const action = values.action ?? 'warn';
  const setRules = (next: typeof rules) => form.setValue('heuristics', next, { shouldDirty: true });
  return (
    <Form
      id={FORM}
      form={form}
      refusal={refusal}
      aria-busy={create.isPending || update.isPending || undefined}
      onSubmit={async ({ name, ...settings }) => {
        clear();
        const call = policy
          ? update.mutateAsync({ id: policy.id, ...settings, expected_updated_at: started() })
          : create.mutateAsync({ name, ...settings });
        await call.then(undefined, () => undefined);
      }}
    >
      {panel}
      <Field
        label="Name"
        required
        error={fieldError(form, 'name')}
        hint={policy ? 'The name of a policy can’t be changed.' : 'A name that is in use gets its next version.'}
      >
        <Input placeholder="Strict" readOnly={base !== undefined} {...form.register('name')} />
      </Field>
      <Field label="When a rule matches" error={fieldError(form, 'action')} hint={FIREWALL_HINTS[action]}>
        <Select
          options={FIREWALL_ACTIONS.map((value) => ({ value, label: FIREWALL_LABELS[value] }))}
          value={action}
          onValueChange={(value) => form.setValue('action', value, { shouldDirty: true })}
        />
      </Field>
      <Checkbox
        checked={values.canary_enabled ?? false}
        onCheckedChange={(on) => form.setValue('canary_enabled', on, { shouldDirty: true })}
        label="Canary"
        description="Adds a secret marker to the system prompt. An answer that repeats it is noticed, and cut or blocked. Provider caches of the prompt no longer match."
      />
      <Field
        label="Own rules"
        group
        error={fieldError(form, 'heuristics')}
        hint="They run beside the built-in rules. Patterns use RE2 syntax."
      >
        <div className="flex flex-col gap-2">
          {rules.map((rule, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rules have no identity but their place
            <div key={index} className="flex flex-col gap-2 rounded-md border border-line p-2 sm:flex-row">
              <Input
                aria-label={`Name of rule ${index + 1}`}
                placeholder="codename"
                value={rule.name}
                className="sm:w-32"
                onChange={(event) => setRules(rules.with(index, { ...rule, name: event.target.value }))}
              />
              <Select
                label={`Kind of rule ${index + 1}`}
                options={[
                  { value: 'keyword', label: 'Keyword' },
                  { value: 'regex', label: 'Pattern' },
                ]}
                value={rule.kind}
                className="sm:w-28"
                onValueChange={(kind) => setRules(rules.with(index, { ...rule, kind }))}
              />
              <Input
                mono
                aria-label={`Pattern of rule ${index + 1}`}
                placeholder="Project X"
                value={rule.pattern}
                className="flex-1"
                onChange={(event) => setRules(rules.with(index, { ...rule, pattern: event.target.value }))}
              />
              <Button
                variant="ghost"
                icon={<Trash2 />}
                aria-label={`Remove rule ${index + 1}`}
                onClick={() => setRules(rules.toSpliced(index, 1))}
              />
            </div>
          ))}
          <div>
            <Button icon={<Plus />} onClick={() => setRules([...rules, { name: '', kind: 'keyword', pattern: '' }])}>
              Add rule
            </Button>
          </div>
        </div>
      </Field>
      {policy && <AttachedTo id={policy.id} />}
      <ApiEquivalent
        method={policy ? 'PATCH' : 'POST'}
        path={policy ? `/ai-gateway/firewall-policies/${policy.id}` : '/ai-gateway/firewall-policies'}
        body={{ ...(policy ? {} : { name: values.name }), action, canary_enabled: values.canary_enabled, heuristics: rules }}
      />
    </Form>
  );
}

function AttachedTo({ id }: { id: string }) {
  const trpc = useTRPC();
  const path = usePath();
  const detail = useQuery(trpc.aiControls.getFirewallPolicy.queryOptions({ id }));
  if (!detail.data) return null;
  const { attached_to: attached } = detail.data;
  return (
    <section className="flex flex-col gap-1">
      <h3 className="font-medium text-sm">Attached to</h3>
      {attached.length === 0 ? (
        <p className="text-ink-2">Nothing yet. Choose it on an agent’s Firewall tab.</p>
      ) : (
        <ul className="flex flex-col gap-1">
          {attached.map((one) => (
            <li key={one.id}>
              <Link href={path(one.type === 'ai_agent' ? `/ai/agents/${one.id}` : `/ai/mcp/${one.id}`)} className={textLink}>
                {one.name}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
