'use client';

import { useMutation } from '@tanstack/react-query';
import { FileUp, Wand2 } from 'lucide-react';
import { parseAsStringLiteral, useQueryState } from 'nuqs';
import { type ChangeEvent, useRef, useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { refusalView } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Field } from '#components/ui/field.tsx';
import { Textarea } from '#components/ui/input.tsx';
import { Page, PageHeader, SectionCard } from '#components/ui/layout.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { OPENAPI_LENGTH } from '#server/domain/import/limits.shared.ts';
import type { Proposal } from '#server/domain/import/schema.ts';
import { type ImportedThings, ImportResult } from './import-result.tsx';
import { KnownApiList } from './known-api-list.tsx';
import { outlineOf } from './openapi-outline.ts';
import { essenceOfYaml } from './openapi-outline-yaml.ts';
import { ProposalForm } from './proposal-form.tsx';
import { kindOf } from './selection.ts';

type Kind = 'curl' | 'openapi' | 'known';
const examples: Record<Exclude<Kind, 'known'>, string> = {
  curl: "curl https://api.example.com/v1/charges \\\n  -H 'Authorization: Bearer sk_…'",
  openapi: 'openapi: 3.1.0\ninfo:\n  title: Orders\nservers:\n  - url: https://api.example.com/v1\npaths: …',
};

/** Paste a curl command or a description, review the proposal, create it. Nothing is stored before the last step. */
export function ImportView() {
  const trpc = useTRPC();
  const readOnly = useForbidden('route:create');
  const [kind, setKind] = useQueryState('kind', parseAsStringLiteral(['curl', 'openapi', 'known']).withDefault('curl'));
  const [text, setText] = useState('');
  const [shortened, setShortened] = useState(false);
  const [proposal, setProposal] = useState<Proposal>();
  const [made, setMade] = useState<ImportedThings>();
  const file = useRef<HTMLInputElement>(null);
  // The response contains credentials, so the mutation cache must not keep it.
  const propose = useMutation({ ...trpc.import.propose.mutationOptions({ onSuccess: setProposal }), gcTime: 0 });

  const take = (whole: string) => {
    const guess = kindOf(whole);
    const essence = guess === 'openapi' && whole.length > OPENAPI_LENGTH ? (outlineOf(whole) ?? essenceOfYaml(whole)) : undefined;
    setShortened(essence !== undefined);
    setText(essence ?? whole);
    propose.reset();
    if (guess && guess !== kind) void setKind(guess);
  };
  const problem = problemOf(kind, text, propose.error);
  const load = async (event: ChangeEvent<HTMLInputElement>) => {
    const chosen = event.target.files?.[0];
    event.target.value = '';
    if (chosen) take(await chosen.text());
  };
  const startOver = () => {
    setProposal(undefined);
    setMade(undefined);
    setText('');
    propose.reset();
  };
  return (
    <Page>
      <PageHeader title="Import" description="Turn a working curl command or an OpenAPI description into routes and secrets." />
      {readOnly && <Callout title="Read-only">{readOnly}</Callout>}
      {made ? (
        <ImportResult made={made} onAgain={startOver} />
      ) : proposal ? (
        <ProposalForm
          proposal={proposal}
          onBack={() => setProposal(undefined)}
          onMade={(things) => {
            // The pasted text contains the credentials.
            setText('');
            setProposal(undefined);
            propose.reset();
            setMade(things);
          }}
        />
      ) : (
        <SectionCard className="max-w-3xl">
          <form
            className="flex flex-col gap-4"
            onSubmit={(event) => {
              event.preventDefault();
              if (kind !== 'known' && text.trim() && !readOnly && text.length <= OPENAPI_LENGTH) propose.mutate({ kind, text });
            }}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) event.currentTarget.requestSubmit();
            }}
          >
            <div className="flex flex-wrap items-center justify-between gap-2">
              <Segmented
                label="Source"
                options={[
                  { value: 'curl', label: 'curl command' },
                  { value: 'openapi', label: 'OpenAPI' },
                  { value: 'known', label: 'Known API' },
                ]}
                value={kind}
                onValueChange={(next) => void setKind(next)}
              />
              {kind !== 'known' && (
                <>
                  <Button size="sm" icon={<FileUp />} onClick={() => file.current?.click()}>
                    Upload file
                  </Button>
                  <input
                    ref={file}
                    type="file"
                    accept=".json,.yaml,.yml,.txt,.sh"
                    aria-label="Upload file"
                    tabIndex={-1}
                    onChange={(event) => void load(event)}
                    className="sr-only"
                  />
                </>
              )}
            </div>
            {kind === 'known' ? (
              <KnownApiList onChoose={setProposal} />
            ) : (
              <>
                <Field
                  label={kind === 'curl' ? 'curl command' : 'OpenAPI description (YAML or JSON)'}
                  error={problem}
                  hint={
                    shortened
                      ? 'Shortened to the title, servers, security and operations.'
                      : 'Not stored. You review everything before it’s created.'
                  }
                >
                  <Textarea mono rows={12} placeholder={examples[kind]} value={text} onChange={(event) => take(event.target.value)} />
                </Field>
                {!problem && <MutationError error={propose.error} />}
                <div className="flex justify-end">
                  <Button
                    type="submit"
                    variant="primary"
                    icon={<Wand2 />}
                    keys="mod+enter"
                    loading={propose.isPending}
                    disabledReason={
                      readOnly ?? (text.trim() ? undefined : kind === 'curl' ? 'Paste a curl command' : 'Paste a description')
                    }
                  >
                    Preview
                  </Button>
                </div>
              </>
            )}
          </form>
        </SectionCard>
      )}
    </Page>
  );
}

/** What is wrong with the text itself, to stand under it. */
function problemOf(kind: Kind, text: string, error: unknown): string | undefined {
  if (kind !== 'known' && text.length > OPENAPI_LENGTH)
    return 'The text is longer than 512 KB. Remove descriptions and models, then try again.';
  const said = error ? /^text: (.)(.*)$/s.exec(refusalView(error).message) : null;
  return said ? `The ${kind === 'curl' ? 'command' : 'description'} ${said[1]}${said[2]}` : undefined;
}
