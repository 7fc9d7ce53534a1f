const names = new Intl.DisplayNames(['en'], { type: 'region' });

/** `Germany` from `DE`. */
export const countryName = (code: string): string => names.of(code) ?? code;

/** `203.0.113.9 · Germany`; the address alone where no country is known, null without one. Pages and mails say it alike. */
export function addressIn(address: string, country: string | null, city?: string | null): string;
export function addressIn(address: string | null | undefined, country: string | null, city?: string | null): string | null;
export function addressIn(address: string | null | undefined, country: string | null, city: string | null = null): string | null {
  if (!address) return null;
  return country ? `${address} · ${city ? `${city}, ` : ''}${countryName(country)}` : address;
}
