'use client';

import { KeyRound } from 'lucide-react';
import { useEffect, useState } from 'react';
import { PlainLinkButton } from '#components/ui/button.tsx';
import { callAuth } from './call.ts';

export type DomainSso = { sso: boolean; required: boolean };

/** What the domain of an address offers. The address itself isn't looked up: every one of a domain gets the same answer. */
export function useDomainSso(email: string): DomainSso {
  const [found, setFound] = useState<DomainSso & { email: string }>();
  useEffect(() => {
    let left = false;
    void callAuth<DomainSso>('/auth/sso/lookup', { email }).then((answer) => {
      if (answer.ok && !left) setFound({ email, ...answer.data });
    });
    return () => {
      left = true;
    };
  }, [email]);
  return found?.email === email ? found : { sso: false, required: false };
}

/** Leaves for the identity provider, which sends the browser back signed in. */
export const SsoLink = ({ email, next, primary }: { email: string; next: string | null; primary?: boolean }) => (
  <PlainLinkButton
    href={`/auth/sso/start?${new URLSearchParams({ email, ...(next ? { next } : {}) })}`}
    variant={primary ? 'primary' : 'secondary'}
    size="lg"
    icon={<KeyRound />}
    className="w-full"
  >
    Continue with single sign-on
  </PlainLinkButton>
);
