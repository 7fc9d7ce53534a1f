'use client';

import { useQuery } from '@tanstack/react-query';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Checkbox, RadioCards } from '#components/ui/choices.tsx';
import { MultiCombobox } from '#components/ui/combobox.tsx';
import { Field } from '#components/ui/field.tsx';
import { fieldError, type ZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { Select } from '#components/ui/select.tsx';
import { KIND_LABELS } from '#server/domain/alert-channels/kinds.shared.ts';
import {
  ALERT_TYPES,
  DEFAULTS,
  describeCondition,
  isOfRequests,
  membersOf,
  SEVERITIES,
  TEMPLATES,
} from '#server/domain/alerts/conditions.shared.ts';
import { type AlertValues, conditionOf, conditionTexts } from './alert-values.ts';
import { SEVERITY_LABELS, TYPE_LABELS } from './labels.ts';

type FormOf = ZodForm<AlertValues, AlertValues>;

const MEMBERS: Readonly<Record<string, { label: string; suffix?: string; hint?: string }>> = {
  threshold: { label: 'At least', suffix: 'times' },
  window_minutes: { label: 'Within', suffix: 'minutes' },
  include_status_codes: { label: 'Status codes', hint: 'Separated by commas.' },
  threshold_ms: { label: 'At least', suffix: 'ms' },
  percentile: { label: 'Percentile' },
  min_requests: { label: 'Of at least', suffix: 'calls', hint: 'With fewer, the alert has no data.' },
  percent: { label: 'At least', suffix: '%' },
  days: { label: 'Within', suffix: 'days' },
  minutes: { label: 'For', suffix: 'minutes' },
  action_prefix: { label: 'Action begins with', hint: 'Such as delete or plaintext. Leave empty for any.' },
  resource_type: { label: 'Resource type', hint: 'Such as secret or api_key. Leave empty for any.' },
};

/** The fields of an alert. What it watches can be chosen for a new one only. */
export function AlertFields({ form, isNew }: { form: FormOf; isNew: boolean }) {
  const values = form.watch();
  const { type } = values;
  const set = <K extends keyof AlertValues>(field: K, value: AlertValues[K]) =>
    form.setValue(field as never, value as never, { shouldDirty: true, shouldValidate: form.formState.isSubmitted });
  const choose = (next: Partial<AlertValues>) => {
    for (const [field, value] of Object.entries(next)) set(field as keyof AlertValues, value as never);
  };
  return (
    <>
      {isNew && (
        <Field label="Template" optional hint="Fills in the fields below.">
          <Select
            placeholder="Start from a template…"
            options={TEMPLATES.map(({ id, name }) => ({ value: id, label: name }))}
            value={null}
            onValueChange={(id) => {
              const template = TEMPLATES.find((one) => one.id === id);
              if (template)
                choose({
                  ...{ name: template.name, type: template.type, severity: template.severity },
                  ...{ cooldown_minutes: String(template.cooldown_minutes), ...conditionTexts(template.condition) },
                });
            }}
          />
        </Field>
      )}
      <Field label="Name" required error={fieldError(form, 'name')}>
        <Input placeholder="Payments fail" autoComplete="off" {...form.register('name')} />
      </Field>
      {isNew && (
        <Field label="What is watched">
          <Select
            options={ALERT_TYPES.map((value) => ({ value, label: TYPE_LABELS[value] }))}
            value={type}
            onValueChange={(next) => choose({ type: next, ...conditionTexts(DEFAULTS[next]) })}
          />
        </Field>
      )}
      <div className="grid gap-3 sm:grid-cols-2">
        {membersOf(type).map((member) => {
          const { label, suffix, hint } = MEMBERS[member] ?? { label: member };
          return member === 'percentile' ? (
            <Field key={member} label={label}>
              <Select
                options={['50', '95', '99'].map((value) => ({ value, label: `p${value}` }))}
                value={values.percentile}
                onValueChange={(value) => set('percentile', value)}
              />
            </Field>
          ) : (
            <Field key={member} label={label} hint={hint} error={fieldError(form, member)}>
              <Input inputMode={suffix ? 'numeric' : undefined} autoComplete="off" suffix={suffix} {...form.register(member)} />
            </Field>
          );
        })}
      </div>
      <p className="text-ink-2 text-xs" aria-live="polite">
        Fires when {describeCondition(type, conditionOf(values))}.
      </p>
      {isOfRequests(type) && <Scope form={form} set={set} />}
      <Field group label="Severity">
        <RadioCards
          columns={2}
          options={SEVERITIES.map((value) => ({ value, title: SEVERITY_LABELS[value] }))}
          value={values.severity}
          onValueChange={(value) => set('severity', value)}
        />
      </Field>
      <Channels form={form} set={set} />
      <Field
        label="Reminder"
        error={fieldError(form, 'cooldown_minutes')}
        hint="While it fires, its channels are told again after this time."
      >
        <Input inputMode="numeric" suffix="minutes" autoComplete="off" {...form.register('cooldown_minutes')} />
      </Field>
      <Checkbox
        checked={values.enabled}
        onCheckedChange={(on) => set('enabled', on)}
        label="On"
        description="An alert that is off is not looked at."
      />
    </>
  );
}

type Set = <K extends keyof AlertValues>(field: K, value: AlertValues[K]) => void;

function Scope({ form, set }: { form: FormOf; set: Set }) {
  const trpc = useTRPC();
  const hidden = useForbidden('route:list');
  const routes = useQuery(trpc.routes.list.queryOptions({ per_page: 100 }, { enabled: !hidden }));
  const values = form.watch();
  return (
    <>
      <Field
        label="Routes"
        optional
        hint="Leave empty for every route. Each route has incidents of its own."
        error={fieldError(form, 'route_ids')}
      >
        <MultiCombobox
          placeholder="Every route"
          disabled={hidden !== undefined}
          options={(routes.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          values={values.route_ids}
          onValuesChange={(ids) => set('route_ids', ids)}
        />
      </Field>
      <Field label="Environments" optional hint="Separated by commas. Leave empty for all." error={fieldError(form, 'environments')}>
        <Input mono placeholder="production" autoComplete="off" {...form.register('environments')} />
      </Field>
    </>
  );
}

function Channels({ form, set }: { form: FormOf; set: Set }) {
  const trpc = useTRPC();
  const path = usePath();
  const channels = useQuery(trpc.alertChannels.list.queryOptions({}));
  const chosen = form.watch('channel_ids');
  const known = channels.data?.data ?? [];
  return (
    <Field
      group
      label="Channels"
      hint="Without one, its incidents are on this page and in the inbox of the team only."
      error={fieldError(form, 'channel_ids')}
    >
      {channels.data && known.length === 0 ? (
        <p className="text-ink-2">
          There are none yet.{' '}
          <Link href={path('/alerts/channels?open=new')} className={textLink}>
            Create a channel
          </Link>
        </p>
      ) : (
        known.map(({ id, name, kind, enabled }) => (
          <Checkbox
            key={id}
            label={name}
            description={`${KIND_LABELS[kind]}${enabled ? '' : ', off'}`}
            checked={chosen.includes(id)}
            onCheckedChange={(on) => set('channel_ids', on ? [...chosen, id] : chosen.filter((one) => one !== id))}
          />
        ))
      )}
    </Field>
  );
}
