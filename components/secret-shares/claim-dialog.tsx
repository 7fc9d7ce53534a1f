'use client';

import { useMutation } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { z } from 'zod';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';

const Claim = z.object({ name: z.string().max(128) });
type Props = { token: string | null; onClose: () => void; onClaimed: () => void };

/** Accepts the share of a mailed link into this workspace. */
export function ClaimDialog({ token, onClose, onClaimed }: Props) {
  return (
    <Sheet
      open={token !== null}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      title="Accept a shared secret"
      description="It becomes a secret of this workspace that your routes can use. Its value stays in the workspace that shares it."
    >
      {token !== null && <ClaimForm token={token} onClose={onClose} onClaimed={onClaimed} />}
    </Sheet>
  );
}

function ClaimForm({ token, onClose, onClaimed }: Props & { token: string }) {
  const trpc = useTRPC();
  const router = useRouter();
  const path = usePath();
  const { space } = useScope();
  const form = useZodForm({ schema: Claim, defaultValues: { name: '' } });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  const claim = useMutation(
    trpc.secretShares.claim.mutationOptions({
      onError: refuse,
      onSuccess: ({ id, name, owner_workspace }) => {
        onClaimed();
        notifyDone(`${owner_workspace} shares ${name} with you now`);
        // Leaves the page, and with it the token in its address.
        router.push(path(`/secrets/${id}`));
      },
    }),
  );
  return (
    <Form
      form={form}
      onSubmit={({ name }) => {
        clear();
        claim.mutate({ token, ...(name.trim() === '' ? {} : { name }) });
      }}
      refusal={refusal}
      className="grow"
    >
      {panel}
      <Field label="Name here" optional error={fieldError(form, 'name')} hint="Leave empty to keep the name it has.">
        <Input mono autoComplete="off" {...form.register('name')} />
      </Field>
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Not now</Button>
          <Button type="submit" variant="primary" loading={claim.isPending}>
            Accept share
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}
