'use client';

import { useState } from 'react';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { applyRefusal, Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import type { RefusalView } from '#components/ui/refusal.ts';
import { callAuth, go } from './call.ts';

const loadOnboardingFields = () => import('./schemas.ts').then((module) => module.OnboardingFields);

/** The first own workspace of a signed-in person. */
export function OnboardingForm({ name, csrf }: { name: string; csrf: string }) {
  const [refusal, setRefusal] = useState<RefusalView>();
  const form = useZodForm({ schema: loadOnboardingFields, defaultValues: { full_name: name, tenant_name: '', use_case: '' } });
  const create = async ({ use_case, ...value }: { full_name: string; tenant_name: string; use_case?: string | undefined }) => {
    const answer = await callAuth<{ workspace: { slug: string } }>(
      '/auth/complete-onboarding',
      { ...value, ...(use_case ? { use_case } : {}) },
      csrf,
    );
    if (answer.ok) return go(`/${answer.data.workspace.slug}/test`);
    setRefusal(applyRefusal(form, answer.refusal));
  };
  return (
    <Form form={form} onSubmit={create} refusal={refusal}>
      <Field label="Your name" error={fieldError(form, 'full_name')}>
        <Input {...form.register('full_name')} size="lg" autoComplete="name" />
      </Field>
      <Field label="Workspace name" hint="Your company or team name." error={fieldError(form, 'tenant_name')}>
        <Input {...form.register('tenant_name')} size="lg" autoComplete="organization" placeholder="Acme" autoFocus />
      </Field>
      <Field label="What will you use Sallyport for?" optional error={fieldError(form, 'use_case')}>
        <Input {...form.register('use_case')} size="lg" placeholder="Keep payment keys out of our services" />
      </Field>
      <Button type="submit" variant="primary" size="lg" loading={form.formState.isSubmitting} className="w-full">
        Create workspace
      </Button>
    </Form>
  );
}
