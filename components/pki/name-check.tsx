'use client';

import { useState } from 'react';
import { Status } from '#components/ui/badge.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Select } from '#components/ui/select.tsx';
import { verdictOn } from './name-verdict.ts';
import type { Role } from './pki-labels.ts';

/** Whether a role would certify a name, by the very rules that the server judges by. Nothing is sent. */
export function NameCheck({ roles }: { roles: readonly Role[] }) {
  const [chosen, setChosen] = useState<string>();
  const [name, setName] = useState('');
  const role = roles.find(({ id }) => id === chosen) ?? roles[0];
  const verdict = role && name.trim() !== '' ? verdictOn(role, name.trim()) : undefined;
  return (
    <SectionCard title="Would this name be allowed?" description="Tries a host name or an IP address on a role. No certificate is issued.">
      <div className="flex flex-wrap items-start gap-4">
        <Field label="Role" className="w-full sm:w-52">
          <Select options={roles.map(({ id, name: label }) => ({ value: id, label }))} value={role?.id ?? null} onValueChange={setChosen} />
        </Field>
        <Field label="Name" className="min-w-0 flex-1 basis-64">
          <Input
            mono
            autoComplete="off"
            spellCheck={false}
            placeholder="api.internal.example.com"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </Field>
      </div>
      <p role="status" className="mt-3 min-h-5">
        {verdict && <Status state={verdict.ok ? 'ok' : 'blocked'}>{verdict.text}</Status>}
      </p>
    </SectionCard>
  );
}
