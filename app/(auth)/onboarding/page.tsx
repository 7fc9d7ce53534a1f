import type { Metadata } from 'next';
import { headers } from 'next/headers';
import { redirect } from 'next/navigation';
import { OnboardingForm } from '#components/auth/onboarding-form.tsx';
import { RestoreWorkspace } from '#components/auth/restore-workspace.tsx';
import { AuthLayout } from '#components/shell/auth-layout.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { frameOf, restorableOf } from '#server/trpc/frame.ts';

export const metadata: Metadata = { title: 'Create a workspace' };

/** For people who signed in before anybody made them a workspace. */
export default async function OnboardingPage() {
  const frame = await frameOf(await headers());
  if (!frame) redirect('/signin?next=/onboarding');
  const owned = frame.workspaces.find((w) => w.role === 'owner');
  if (owned)
    return (
      <AuthLayout
        title={`You own ${owned.name}`}
        description="Each account can own one workspace. To create another, sign up with a different email address."
      >
        <LinkButton href={`/${owned.slug}/test`} variant="primary" size="lg" className="w-full">
          Open {owned.name}
        </LinkButton>
      </AuthLayout>
    );
  const restorable = await restorableOf(await headers());
  return (
    <AuthLayout title="Create your workspace" description="You start in Test with a working route, a sample secret and an API key.">
      {restorable.map((workspace) => (
        <RestoreWorkspace key={workspace.id} workspace={workspace} csrf={frame.csrf} />
      ))}
      <OnboardingForm name={frame.user.name === frame.user.email ? '' : frame.user.name} csrf={frame.csrf} />
    </AuthLayout>
  );
}
