'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { z } from 'zod';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { ShownOnce } from '#components/ui/shown-once.tsx';
import type { CreatedAcmeAccount } from '#server/domain/acme/schema.ts';
import { inPath, type Role, type Root } from './pki-labels.ts';

type Created = z.output<typeof CreatedAcmeAccount>;
type Props = { root: Root; role: Role; open: boolean; onClose: () => void };

const DAY = 86_400;
const WITHIN = [
  { value: String(DAY), label: '1 day' },
  { value: String(7 * DAY), label: '7 days' },
  { value: String(30 * DAY), label: '30 days' },
  { value: String(365 * DAY), label: '1 year' },
];

/** Makes the key with which one ACME client registers, and shows it once. */
export function NewAccountSheet({ root, role, open, onClose }: Props) {
  const [created, setCreated] = useState<Created>();
  return (
    <>
      <Sheet
        open={open}
        onOpenChange={(next) => next || onClose()}
        title="New ACME account"
        description={`Enrols for names that ${role.name} allows, and no others.`}
      >
        {open && (
          <AccountForm
            root={root}
            role={role}
            onClose={onClose}
            onCreated={(made) => {
              onClose();
              setCreated(made);
            }}
          />
        )}
      </Sheet>
      <ShownOnce
        value={created?.hmac_key}
        title="ACME account key"
        label="account key"
        filename="acme-account-key.txt"
        onGone={() => setCreated(undefined)}
      >
        {created && <HowToEnrol created={created} />}
      </ShownOnce>
    </>
  );
}

function AccountForm({ root, role, onClose, onCreated }: Omit<Props, 'open'> & { onCreated: (created: Created) => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [label, setLabel] = useState('');
  const [ttl, setTtl] = useState(String(30 * DAY));
  const create = useMutation(
    trpc.acme.createAccount.mutationOptions({
      gcTime: 0,
      onSuccess: (made) => {
        void queryClient.invalidateQueries(trpc.acme.pathFilter());
        onCreated(made);
        // The dialog has the only copy of the key now.
        create.reset();
      },
    }),
  );
  const body = { ...(label.trim() === '' ? {} : { label: label.trim() }), ttl_seconds: Number(ttl) };
  return (
    <form
      className="flex grow flex-col gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate({ name: root.id, role: role.id, ...body });
      }}
    >
      <Field label="Label" optional hint="For example, the machine that the client runs on.">
        <Input maxLength={100} placeholder="web-1" value={label} onChange={(event) => setLabel(event.target.value)} />
      </Field>
      <Field label="Register within" hint="A key that no client has registered with by then is worthless.">
        <Select options={WITHIN} value={ttl} onValueChange={setTtl} />
      </Field>
      <MutationError error={create.error} />
      <ApiEquivalent method="POST" path={`/pki/roots/${inPath(root)}/roles/${inPath(role)}/acme-accounts`} body={body} />
      <SheetFooter>
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" loading={create.isPending}>
            Create account
          </Button>
        </div>
      </SheetFooter>
    </form>
  );
}

/** What the client is given. The key stands as a variable: code is kept and shared. */
function HowToEnrol({ created: { kid, directory_url } }: { created: Created }) {
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <KeyValueList
        items={[
          { label: 'Key ID', value: kid, copy: kid },
          { label: 'Directory', value: directory_url, copy: directory_url },
        ]}
      />
      <CodeBlock
        title="Enrol"
        wrap
        snippets={[
          {
            id: 'certbot',
            label: 'certbot',
            language: 'bash',
            code: `certbot certonly --standalone --server ${directory_url} \\\n  --eab-kid ${kid} --eab-hmac-key "$ACME_KEY" \\\n  --email you@example.com -d YOUR_HOST`,
          },
          {
            id: 'lego',
            label: 'lego',
            language: 'bash',
            code: `lego --server ${directory_url} --accept-tos \\\n  --eab --kid ${kid} --hmac "$ACME_KEY" \\\n  --email you@example.com --domains YOUR_HOST --http run`,
          },
          {
            id: 'caddy',
            label: 'Caddy',
            language: 'bash',
            code: `{\n  acme_ca ${directory_url}\n  acme_eab {\n    key_id ${kid}\n    mac_key {$ACME_KEY}\n  }\n}`,
          },
        ]}
      />
    </div>
  );
}
