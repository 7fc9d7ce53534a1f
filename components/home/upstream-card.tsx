'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ArrowRight, Check } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { addressings } from '#components/routes/addressing.ts';
import { callSnippets } from '#components/routes/call-snippets.ts';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { refusalView } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { RadioCards } from '#components/ui/choices.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { Field } from '#components/ui/field.tsx';
import { useFocusAfter } from '#components/ui/focus-after.ts';
import { Input } from '#components/ui/input.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { SecretInput } from '#components/ui/secret-input.tsx';
import { suggestedSecretName } from '#server/domain/routes/config/literal-credential.shared.ts';

/** Where a step begins for the keyboard: at its chosen radio, else at its first field. */
const FIRST = 'input[type="radio"]:checked, input:not([type="hidden"], [type="radio"], [tabindex="-1"])';

type Place = 'bearer' | 'header' | 'query' | 'none';
type Answers = { url: string; place: Place; name: string; value: string };

/** Two questions between the demonstration and an API of one's own: where it is, and how it wants its credential. */
export function UpstreamCard({ apiKey }: { apiKey: string | undefined }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const readOnly = useForbidden('route:update');
  const [step, setStep] = useState<1 | 2>(1);
  const [answers, setAnswers] = useState<Answers>({ url: '', place: 'bearer', name: 'X-Api-Key', value: '' });
  const [problem, setProblem] = useState<string>();
  const { box, focusAfter } = useFocusAfter();
  const goTo = (next: 1 | 2) => {
    setStep(next);
    focusAfter(FIRST);
  };
  const environments = useQuery(trpc.environments.list.queryOptions({}));
  const environment = environments.data?.data.find((e) => e.is_default)?.name;
  // The credential must not stay in the cache of mutations.
  const apply = useMutation({
    ...trpc.import.create.mutationOptions({
      onSuccess: async () => {
        setAnswers((old) => ({ ...old, value: '' }));
        focusAfter('[data-done] a');
        await Promise.all([cache.invalidateQueries(trpc.routes.pathFilter()), cache.invalidateQueries(trpc.secrets.pathFilter())]);
      },
      onError: (error) => {
        // The server looked the host up: what it says about the URL belongs beside the URL.
        const { message } = refusalView(error);
        if (!message.startsWith('routes.0.target_base_url')) return;
        goTo(1);
        setProblem(message.replace(/^[^:\s]+:?\s*/, ''));
      },
    }),
    gcTime: 0,
  });
  const change = (part: Partial<Answers>) => setAnswers((old) => ({ ...old, ...part }));
  const next = (event: FormEvent) => {
    event.preventDefault();
    if (step === 1) {
      const wrong = urlProblem(answers.url);
      setProblem(wrong);
      if (!wrong) goTo(2);
      return;
    }
    apply.mutate(requestOf(answers, environment));
  };
  const route = apply.data?.routes[0];
  if (route)
    return (
      <div ref={box}>
        <Done
          route={route}
          apiKey={apiKey}
          onAgain={() => {
            apply.reset();
            goTo(1);
            change({ url: '' });
          }}
        />
      </div>
    );
  return (
    <div ref={box}>
      <SectionCard
        title="Connect your API"
        description={`Step ${step.toString()} of 2: ${step === 1 ? 'the API address' : 'its credential'}`}
      >
        <form onSubmit={next} noValidate className="flex flex-col gap-4">
          {step === 1 ? (
            <Field label="API base URL" required error={problem} hint="The API’s own URL. Callers use your workspace URL instead.">
              <Input
                mono
                placeholder="https://api.example.com/v1"
                value={answers.url}
                onChange={(event) => change({ url: event.target.value })}
              />
            </Field>
          ) : (
            <>
              <Field label="How does the API expect its credential?" group>
                <RadioCards
                  columns={2}
                  options={[
                    { value: 'bearer', title: 'Bearer token', description: 'Authorization: Bearer …' },
                    { value: 'header', title: 'Custom header', description: 'For example, X-Api-Key' },
                    { value: 'query', title: 'Query parameter', description: 'For example, ?api_key=…' },
                    { value: 'none', title: 'None', description: 'Or add it later' },
                  ]}
                  value={answers.place}
                  onValueChange={(place) => change({ place, name: place === 'query' ? 'api_key' : 'X-Api-Key' })}
                />
              </Field>
              {(answers.place === 'header' || answers.place === 'query') && (
                <Field label={answers.place === 'header' ? 'Header name' : 'Parameter name'} required>
                  <Input mono value={answers.name} onChange={(event) => change({ name: event.target.value })} />
                </Field>
              )}
              {answers.place !== 'none' && (
                <Field label="Credential" required hint={`Encrypted and stored as ${secretNameOf(answers)}. Callers never see it.`}>
                  <SecretInput value={answers.value} onChange={(event) => change({ value: event.target.value })} />
                </Field>
              )}
            </>
          )}
          {step === 2 && <MutationError error={apply.error} />}
          <div className="flex justify-end gap-2">
            {step === 2 && <Button onClick={() => goTo(1)}>Back</Button>}
            <Button
              type="submit"
              variant="primary"
              loading={apply.isPending}
              disabledReason={
                readOnly ??
                (step === 1
                  ? answers.url
                    ? undefined
                    : 'Enter the API base URL first.'
                  : answers.place !== 'none' && !answers.value
                    ? 'Enter the credential first.'
                    : undefined)
              }
              icon={step === 1 ? <ArrowRight /> : undefined}
            >
              {step === 1 ? 'Next' : 'Create route'}
            </Button>
          </div>
        </form>
      </SectionCard>
    </div>
  );
}

function Done({
  route,
  apiKey,
  onAgain,
}: {
  route: { id: string; name: string; slug: string | null };
  apiKey: string | undefined;
  onAgain: () => void;
}) {
  const { proxy_url } = useScope();
  const path = usePath();
  const { byPath } = addressings({ proxyUrl: proxy_url, reference: route.slug ?? route.id, key: apiKey ?? 'YOUR_TEST_KEY' });
  return (
    <SectionCard
      title={
        <span className="flex items-center gap-2">
          <Check aria-hidden className="size-4 text-good-ink" /> {route.name} is ready
        </span>
      }
      description="Call it like the API itself, without the credential."
    >
      <div className="flex flex-col gap-3">
        <CodeBlock
          snippets={callSnippets(byPath)}
          copyDisabledReason={apiKey ? undefined : 'Add a key to the first command on this page.'}
        />
        <div data-done className="flex flex-wrap gap-2">
          <LinkButton href={path(`/routes/${route.id}`)}>Open route</LinkButton>
          <Button variant="ghost" onClick={onAgain}>
            Add another
          </Button>
        </div>
      </div>
    </SectionCard>
  );
}

const hostOf = (url: string) => URL.parse(url)?.hostname ?? '';
/** `api.stripe.com` is known to people as `stripe`; an address says nothing. */
const nameOf = (url: string) => {
  if (/^[\d.]+$|^\[/.test(hostOf(url))) return 'my-api';
  const labels = hostOf(url)
    .split('.')
    .filter((label) => !/^(?:www|api|gateway|rest|v\d+)$/.test(label));
  return (labels.length > 1 ? labels.at(-2) : labels[0]) ?? 'my-api';
};
const secretNameOf = ({ url, place, name }: Answers) => suggestedSecretName(nameOf(url), place === 'bearer' ? 'TOKEN' : name);

function requestOf(answers: Answers, environment: string | undefined) {
  const { url, place, name, value } = answers;
  const secret = secretNameOf(answers);
  const placeholder = `{{secret:${secret}}}`;
  return {
    routes: [
      {
        name: nameOf(url),
        target_base_url: url.trim(),
        ...(place === 'bearer' ? { inject_headers_json: { Authorization: `Bearer ${placeholder}` } } : {}),
        ...(place === 'header' ? { inject_headers_json: { [name.trim()]: placeholder } } : {}),
        ...(place === 'query' ? { inject_query_json: { [name.trim()]: placeholder } } : {}),
      },
    ],
    secrets: place === 'none' ? [] : [{ name: secret, value, ...(environment ? { environment } : {}) }],
  };
}

function urlProblem(text: string): string | undefined {
  const url = URL.parse(text.trim());
  if (!url || !/^https?:$/.test(url.protocol)) return 'Enter a full URL, such as https://api.example.com/v1.';
  if (url.username || url.password) return 'Remove the username and password. You add the credential in the next step.';
  if (url.search || url.hash) return 'Remove the query string and fragment. Callers add their own.';
  return undefined;
}
