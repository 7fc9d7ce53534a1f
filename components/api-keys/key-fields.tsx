'use client';

import type { ReactNode } from 'react';
import { z } from 'zod';
import { AddressNote, addressProblem } from '#components/clients/address-note.tsx';
import { listOf } from '#components/secrets/secret-text.ts';
import { DateTimeInput } from '#components/ui/date-time-input.tsx';
import { Field } from '#components/ui/field.tsx';
import { fieldError, type ZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { Select } from '#components/ui/select.tsx';
import { RolePicker } from './role-picker.tsx';

const whole = (max: number) =>
  z
    .string()
    .refine(
      (text) => text === '' || (/^\d{1,7}$/.test(text) && Number(text) >= 1 && Number(text) <= max),
      `must be a whole number from 1 to ${grouped(max)}`,
    );

/** What create and edit have in common, as it is typed. */
export const keyFields = {
  name: z.string().trim().min(1, 'is required').max(100),
  role_ids: z.array(z.string()),
  rate_limit_requests: whole(1_000_000),
  rate_limit_window_sec: z.string(),
  ip_allowlist: z.string().superRefine((text, context) => {
    const problem = addressProblem(listOf(text));
    if (problem) context.addIssue({ code: 'custom', message: problem });
  }),
  expires_at: z.string().nullable(),
};
const Fields = z.object(keyFields);
export type KeyFieldValues = z.input<typeof Fields>;

/** The typed fields as the endpoints take them; the expiry differs between create and edit. */
export const keyInput = (value: z.output<typeof Fields>) => ({
  name: value.name,
  role_ids: value.role_ids,
  rate_limit_requests: value.rate_limit_requests ? Number(value.rate_limit_requests) : null,
  rate_limit_window_sec: value.rate_limit_requests ? Number(value.rate_limit_window_sec) : null,
  ip_allowlist: listOf(value.ip_allowlist),
});

const WINDOWS = [
  { value: '1', label: 'per second' },
  { value: '60', label: 'per minute' },
  { value: '3600', label: 'per hour' },
  { value: '86400', label: 'per day' },
];

/** Name, roles, expiry, limit and addresses of a key. The form that holds them may have more fields. */
export function KeyFields<T extends KeyFieldValues>({ form: given, children }: { form: ZodForm<T, T>; children?: ReactNode }) {
  // The fields below exist in every form this is given to; the generic form's own paths cannot say so.
  const form = given as unknown as ZodForm<KeyFieldValues>;
  const values = form.watch();
  const window = values.rate_limit_window_sec;
  const windows = WINDOWS.some((one) => one.value === window) ? WINDOWS : [...WINDOWS, { value: window, label: `per ${window} seconds` }];
  const addresses = listOf(values.ip_allowlist);
  return (
    <>
      <Field label="Name" required error={fieldError(form, 'name')} hint="What uses this key. Shown in logs and the audit log.">
        <Input placeholder="ci-deploy" autoComplete="off" {...form.register('name')} />
      </Field>
      {children}
      <RolePicker
        value={values.role_ids}
        onChange={(roles) => form.setValue('role_ids', roles, { shouldDirty: true })}
        error={fieldError(form, 'role_ids')}
      />
      <Field
        label="Expires"
        optional
        error={fieldError(form, 'expires_at')}
        hint="From 1 hour to 5 years from now. Leave empty for a key that never expires."
      >
        <DateTimeInput value={values.expires_at} onChange={(at) => form.setValue('expires_at', at, { shouldDirty: true })} />
      </Field>
      <Field label="Rate limit" optional error={fieldError(form, 'rate_limit_requests')}>
        <div className="grid grid-cols-[minmax(0,1fr)_minmax(0,10rem)] gap-2">
          <Input inputMode="numeric" placeholder="Unlimited" {...form.register('rate_limit_requests')} />
          <Select
            label="Rate limit window"
            options={windows}
            value={window}
            onValueChange={(next) => form.setValue('rate_limit_window_sec', next, { shouldDirty: true })}
          />
        </div>
      </Field>
      <Field
        label="Allowed IP addresses"
        optional
        error={fieldError(form, 'ip_allowlist')}
        hint="One IP address or CIDR range per line. Leave empty to allow any."
      >
        <Textarea mono rows={2} placeholder="203.0.113.0/24" {...form.register('ip_allowlist')} />
        {addresses.map((address) => (
          <AddressNote key={address} text={address} />
        ))}
      </Field>
    </>
  );
}
