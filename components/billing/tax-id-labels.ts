import type { TaxIdType } from '#server/domain/tenants/tax-ids.shared.ts';

const LABELS: Record<TaxIdType, string> = {
  eu_vat: 'EU VAT number',
  gb_vat: 'UK VAT number',
  us_ein: 'US EIN',
  au_abn: 'Australian ABN',
  nz_gst: 'New Zealand GST number',
  ca_bn: 'Canadian BN',
  ca_gst_hst: 'Canadian GST/HST number',
  ch_vat: 'Swiss VAT number',
  no_vat: 'Norwegian VAT number',
  in_gst: 'Indian GSTIN',
  jp_cn: 'Japanese corporate number',
  br_cnpj: 'Brazilian CNPJ',
  mx_rfc: 'Mexican RFC',
  sg_gst: 'Singapore GST number',
  za_vat: 'South African VAT number',
  other: 'Other',
};
export const TAX_ID_OPTIONS = (Object.keys(LABELS) as TaxIdType[]).map((value) => ({ value, label: LABELS[value] }));
export const taxIdLabel = (type: string): string => (LABELS as Record<string, string>)[type] ?? type;
