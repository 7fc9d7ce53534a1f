import type { Metadata, Viewport } from 'next';
import { cookies, headers } from 'next/headers';
import type { ReactNode } from 'react';
import { appearanceAttributes, DENSITY_COOKIE, readAppearance, THEME_COOKIE } from '#components/theme/appearance.ts';
import { AppearanceProvider } from '#components/theme/appearance-provider.tsx';
import { CspNonce } from '#components/theme/csp-nonce.tsx';
import { Toaster } from '#components/ui/toaster.tsx';
import './globals.css';

export const metadata: Metadata = {
  title: { default: 'Sallyport', template: '%s · Sallyport' },
  description: 'An API gateway that keeps your secrets',
  robots: { index: false, follow: false },
};

export const viewport: Viewport = { width: 'device-width', initialScale: 1, colorScheme: 'light dark' };

/** The theme is written here from cookies, so the first paint is already right. */
export default async function RootLayout({ children }: { children: ReactNode }) {
  const [jar, head] = await Promise.all([cookies(), headers()]);
  const appearance = readAppearance(jar.get(THEME_COOKIE)?.value, jar.get(DENSITY_COOKIE)?.value);
  return (
    <html lang="en" {...appearanceAttributes(appearance)}>
      <body>
        <CspNonce nonce={head.get('x-nonce') ?? undefined}>
          <AppearanceProvider initial={appearance}>
            {children}
            <Toaster />
          </AppearanceProvider>
        </CspNonce>
      </body>
    </html>
  );
}
