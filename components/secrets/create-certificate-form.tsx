'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { z } from 'zod';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { secretName } from '#server/domain/secrets/schema.ts';
import { CertificateFields, certificateMaterial, materialOf } from './certificate-fields.tsx';

const NewCertificate = z.object({ name: secretName(), ...certificateMaterial });

/** Stores a certificate in the default environment. */
export function CreateCertificateForm({ onDone }: { onDone: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const router = useRouter();
  const path = usePath();
  const { space } = useScope();
  const form = useZodForm({
    schema: NewCertificate,
    defaultValues: { name: '', certificate_content: '', private_key: '', passphrase: '' },
  });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  useUnsavedGuard(form.formState.isDirty);
  const create = useMutation(
    trpc.secrets.createCertificate.mutationOptions({
      gcTime: 0,
      onError: refuse,
      onSuccess: ({ id, name }) => {
        void queryClient.invalidateQueries(trpc.secrets.pathFilter());
        void queryClient.invalidateQueries(trpc.account.pathFilter());
        notifyDone(`Certificate ${name} stored`);
        router.replace(path(`/secrets/${id}`));
      },
    }),
  );
  const submit = (value: z.output<typeof NewCertificate>) => {
    clear();
    create.mutate({ name: value.name, ...materialOf(value) });
  };
  return (
    <Form form={form} onSubmit={submit} refusal={refusal} className="grow">
      {panel}
      <Field label="Name" required error={fieldError(form, 'name')}>
        <Input mono placeholder="PARTNER_CLIENT" autoComplete="off" {...form.register('name')} />
      </Field>
      <CertificateFields form={form} />
      <ApiEquivalent method="POST" path="/secrets/certificate" body={{ name: form.watch('name') || 'NAME', certificate_content: '…' }} />
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onDone}>Cancel</Button>
          <Button type="submit" variant="primary" keys="mod+enter" loading={create.isPending}>
            Store certificate
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}
