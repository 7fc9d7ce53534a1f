'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { z } from 'zod';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { Meter } from '#components/ui/meter.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import type { LimitRow } from './rows.ts';

const METRICS = ['usd', 'tokens', 'requests'] as const;
const WINDOWS = ['minute', 'hour', 'day', 'month'] as const;
const ACTIONS = ['block', 'warn'] as const;
const METRIC_LABELS = { usd: 'USD', tokens: 'Tokens', requests: 'Calls' } as const;

const LimitFields = z.object({
  name: z.string().trim().min(1, 'is required').max(100),
  metric: z.enum(METRICS),
  window: z.enum(WINDOWS),
  limit: z.string().regex(/^\d{1,12}(?:\.\d{1,4})?$/, 'must be an amount such as 10 or 2.50'),
  action: z.enum(ACTIONS),
  user: z.string().max(200),
  team: z.string().max(100),
  model: z.string().max(200),
  tag: z.string().regex(/^(?:[a-z0-9_.-]{1,40}(?:=.{1,120})?)?$/, 'must be a name, or name=value'),
  group_by: z.string().max(160),
});
type Values = z.output<typeof LimitFields>;

type Props = { open: boolean; limit: LimitRow | undefined; onClose: () => void };

/** Makes a limit policy, or changes one. What it counts stays. */
export function LimitSheet({ open, limit, onClose }: Props) {
  return (
    <Sheet open={open} onOpenChange={(next) => next || onClose()} dismissible={false} title={limit ? `Edit ${limit.name}` : 'New limit'}>
      {open && <LimitForm limit={limit} onClose={onClose} />}
    </Sheet>
  );
}

function bodyOf({ user, team, model, tag, group_by, metric: _metric, ...rest }: Values) {
  const [key = '', ...value] = tag.split('=');
  return {
    ...rest,
    match: {
      ...(user.trim() ? { user: user.trim() } : {}),
      ...(team.trim() ? { team: team.trim() } : {}),
      ...(model.trim() ? { model: model.trim() } : {}),
      ...(key ? { tag: { key, ...(value.length > 0 ? { value: value.join('=') } : {}) } } : {}),
    },
    group_by: group_by
      .split(',')
      .map((by) => by.trim())
      .filter(Boolean),
  };
}

function LimitForm({ limit, onClose }: Omit<Props, 'open'>) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space } = useScope();
  const { match } = limit ?? { match: {} as LimitRow['match'] };
  const form = useZodForm({
    schema: LimitFields,
    defaultValues: {
      name: limit?.name ?? '',
      metric: limit?.metric ?? 'usd',
      window: limit?.window ?? 'day',
      limit: limit?.limit ?? '',
      action: limit?.action ?? 'block',
      user: match.user ?? '',
      team: match.team ?? '',
      model: match.model ?? '',
      tag: match.tag ? `${match.tag.key}${match.tag.value === undefined ? '' : `=${match.tag.value}`}` : '',
      group_by: limit?.group_by.join(', ') ?? '',
    },
  });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  useUnsavedGuard(form.formState.isDirty);
  const done = {
    onError: refuse,
    onSuccess: () => {
      notifyDone('Limit saved. It holds within seconds');
      onClose();
      return cache.invalidateQueries(trpc.aiSpend.pathFilter());
    },
  };
  const create = useMutation(trpc.aiSpend.createLimit.mutationOptions(done));
  const update = useMutation(trpc.aiSpend.updateLimit.mutationOptions(done));
  const detail = useQuery(trpc.aiSpend.getLimit.queryOptions({ id: limit?.id ?? '' }, { enabled: limit !== undefined }));
  const values = form.watch();
  return (
    <Form
      form={form}
      refusal={refusal}
      className="grow"
      onSubmit={(value) => {
        clear();
        if (limit) update.mutate({ id: limit.id, ...bodyOf(value) });
        else create.mutate({ metric: value.metric, ...bodyOf(value) });
      }}
    >
      {panel}
      {detail.data && detail.data.use.length > 0 && (
        <div className="flex flex-col gap-2">
          {detail.data.use.slice(0, 5).map(({ group, used }) => (
            <Meter
              key={group.join(' ')}
              value={used}
              max={Number(detail.data.limit)}
              label={group.length === 0 ? 'Used in this window' : group.map((value) => value ?? 'none').join(', ')}
              detail={`${String(Number(used.toFixed(4)))} of ${detail.data.limit}`}
            />
          ))}
        </div>
      )}
      <Field label="Name" required error={fieldError(form, 'name')}>
        <Input autoComplete="off" placeholder="Each user per day" {...form.register('name')} />
      </Field>
      <div className="grid gap-3 sm:grid-cols-3">
        <Field label="Limit" required error={fieldError(form, 'limit')}>
          <Input inputMode="decimal" autoComplete="off" placeholder="10" {...form.register('limit')} />
        </Field>
        <Select
          label="Of"
          disabled={limit !== undefined}
          options={METRICS.map((value) => ({ value, label: METRIC_LABELS[value] }))}
          value={values.metric}
          onValueChange={(value) => form.setValue('metric', value, { shouldDirty: true })}
        />
        <Select
          label="Per"
          options={WINDOWS.map((value) => ({ value, label: value[0]?.toUpperCase() + value.slice(1) }))}
          value={values.window}
          onValueChange={(value) => form.setValue('window', value, { shouldDirty: true })}
        />
      </div>
      <Select
        label="At the limit"
        options={[
          { value: 'block', label: 'Refuse the call' },
          { value: 'warn', label: 'Serve it with a warning' },
        ]}
        value={values.action}
        onValueChange={(value) => form.setValue('action', value, { shouldDirty: true })}
      />
      <Field
        label="For each"
        optional
        error={fieldError(form, 'group_by')}
        hint="user, team, model or tag:<key>, parted by commas. Each has a limit of its own."
      >
        <Input mono autoComplete="off" placeholder="user" {...form.register('group_by')} />
      </Field>
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="Only user" optional error={fieldError(form, 'user')}>
          <Input autoComplete="off" {...form.register('user')} />
        </Field>
        <Field label="Only team" optional error={fieldError(form, 'team')}>
          <Input autoComplete="off" {...form.register('team')} />
        </Field>
        <Field label="Only model" optional error={fieldError(form, 'model')} hint="A * at its end stands for anything.">
          <Input mono autoComplete="off" {...form.register('model')} />
        </Field>
        <Field label="Only tag" optional error={fieldError(form, 'tag')} hint="A name, or name=value.">
          <Input mono autoComplete="off" {...form.register('tag')} />
        </Field>
      </div>
      <ApiEquivalent
        method={limit ? 'PATCH' : 'POST'}
        path={limit ? `/ai-gateway/limit-policies/${limit.id}` : '/ai-gateway/limit-policies'}
        body={limit ? bodyOf(values) : { metric: values.metric, ...bodyOf(values) }}
      />
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" keys="mod+enter" loading={create.isPending || update.isPending}>
            Save limit
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}
