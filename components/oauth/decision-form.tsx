'use client';

import { type FormEvent, type ReactNode, useRef, useState } from 'react';
import { askStepUp, explainMissingFactor } from '#components/step-up/challenges.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { lazyPart } from '#components/ui/lazy.tsx';
import type { ConsentProof } from '#server/domain/oauth-grants/view.shared.ts';

const StepUpDialog = lazyPart(() => import('#components/step-up/step-up-dialog.tsx').then((module) => module.StepUpDialog));

export type DecisionFormProps = {
  action: string;
  csrf: string;
  workspace: string | null;
  /** What allowing takes of the person, and whether they have a second factor. */
  proof: ConsentProof;
  enrolled: boolean;
  /** Why nothing can be allowed, if so; then the person can only go back. */
  blocked: ReactNode | null;
  labels: { allow: string; deny: string };
  problem: string | null;
  children: ReactNode;
};

/**
 * A form that a browser sends by itself, so that it leaves for the application the way the page's policy allows. Before it goes, the shared dialog asks for a
 * second factor where one is needed; the server uses that verification up. After a sign-in that is too old, the person signs in again and comes back here.
 */
export function DecisionForm({ action, csrf, workspace, proof, enrolled, blocked, labels, problem, children }: DecisionFormProps) {
  const [sent, setSent] = useState<string>();
  const confirmed = useRef(false);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    const form = event.currentTarget;
    const button = (event.nativeEvent as SubmitEvent).submitter as HTMLButtonElement | null;
    if (sent) return event.preventDefault();
    if (button?.value !== 'allow' || proof !== 'confirm' || confirmed.current) return setSent(button?.value);
    event.preventDefault();
    if (!enrolled) return explainMissingFactor({ message: NO_FACTOR });
    void askStepUp(REQUEST).then((headers) => {
      if (!headers) return;
      confirmed.current = true;
      form.requestSubmit(button);
    });
  };
  return (
    <form method="post" action={action} onSubmit={submit} className="flex flex-col gap-5">
      <input type="hidden" name="csrf_token" value={csrf} />
      {workspace && <input type="hidden" name="workspace" value={workspace} />}
      {problem && <Callout tone="bad" title={PROBLEMS[problem] ?? 'That didn’t work. Try again.'} />}
      {children}
      {blocked}
      {!blocked && proof === 'sign_in' && (
        <Callout tone="warn" title="Sign in again to allow this. You signed in more than 12 hours ago, and the login can last 90 days." />
      )}
      <div className="flex flex-col gap-2.5 sm:flex-row-reverse">
        {!blocked && proof === 'sign_in' && (
          <Button
            type="submit"
            name="decision"
            value="switch"
            variant="primary"
            size="lg"
            loading={sent === 'switch'}
            className="sm:flex-1"
          >
            Sign in again
          </Button>
        )}
        {!blocked && proof !== 'sign_in' && (
          <Button type="submit" name="decision" value="allow" variant="primary" size="lg" loading={sent === 'allow'} className="sm:flex-1">
            {labels.allow}
          </Button>
        )}
        <Button type="submit" name="decision" value="deny" size="lg" loading={sent === 'deny'} className="sm:flex-1">
          {labels.deny}
        </Button>
      </div>
      <StepUpDialog />
    </form>
  );
}

const REQUEST = {
  code: 'step_up_required',
  requires_step_up: true,
  action_scope: 'oauth.consent',
  allowed_methods: ['passkey', '2fa'],
  message: 'Confirm it’s you to grant this access.',
};
const NO_FACTOR = 'This login needs a second factor. Add a passkey or an authenticator app to your account, then try again.';

const PROBLEMS: Readonly<Record<string, string>> = {
  csrf_failed: 'This page was open for too long or belongs to another session. Try again.',
  step_up_required: 'Your sign-in is too old to allow this. Confirm it’s you or sign in again, then allow again.',
  mfa_required: NO_FACTOR,
  not_authenticated: 'Sign in again to continue.',
  rate_limited: 'Too many attempts. Try again in a minute.',
};
