/** Customers of the sample, with the size of an ordinary month of theirs in US dollars. The companies are made up. */
export interface SampleCustomer {
  readonly id: number;
  readonly name: string;
  readonly country: string;
  readonly region: 'domestic' | 'overseas';
  readonly parentId: number | null;
  readonly monthly: number;
}

const homeNames = [
  ...['Hanbyeol Electronics', 'Daeun Steelworks', 'Cheongmyeong Foods', 'Saebit Chemicals', 'Garam Logistics'],
  ...['Nuri Displays', 'Baekdam Motors', 'Onsaem Pharma', 'Dasom Retail', 'Taeyang Machinery'],
  ...['Haneul Semicon', 'Miso Cosmetics', 'Jinu Shipyards', 'Areum Textiles', 'Bitgaram Energy'],
  ...['Chorok Farms', 'Dongbaek Paper', 'Eunhasu Telecom', 'Furun Plastics', 'Gaon Robotics'],
  ...['Haetsal Solar', 'Iseul Beverages', 'Jangmi Hotels', 'Kkotnae Trading', 'Lumi Optics'],
  ...['Maru Construction', 'Narae Airfreight', 'Ongdal Ceramics', 'Parang Fisheries', 'Raon Games'],
  ...['Sarang Medical', 'Taeun Cement', 'Uri Packaging', 'Wonil Tools', 'Yeoul Water'],
  ...['Aran Furniture', 'Boram Insurance', 'Chanuri Glass', 'Doran Books', 'Eoul Software'],
];

/** Home customers, largest first, each a little smaller than the one before. */
const home: readonly SampleCustomer[] = homeNames.map((name, index) => ({
  id: index + 1,
  name,
  country: 'South Korea',
  region: 'domestic',
  parentId: null,
  monthly: Math.round(240_000 * 0.91 ** index),
}));

/**
 * Some middling home customers buy most of what they buy abroad: with their subsidiaries they are among the largest. Each customer that is
 * among the ten largest by either count has one, so that no figure of the one answer is a figure of the other.
 */
const subsidiaries: readonly (readonly [parentId: number, suffix: string, country: string, monthly: number])[] = [
  [1, 'Hungary', 'Hungary', 22_000],
  [2, 'Vietnam', 'Vietnam', 96_000],
  [3, 'Philippines', 'Philippines', 12_000],
  [4, 'USA', 'United States', 188_000],
  [5, 'Europe', 'Germany', 24_000],
  [7, 'India', 'India', 31_000],
  [11, 'USA', 'United States', 212_000],
  [11, 'Taiwan', 'Taiwan', 118_000],
  [12, 'Japan', 'Japan', 196_000],
  [14, 'Indonesia', 'Indonesia', 155_000],
  [15, 'Chile', 'Chile', 42_000],
  [18, 'Poland', 'Poland', 171_000],
  [20, 'Germany', 'Germany', 163_000],
  [21, 'Spain', 'Spain', 88_000],
  [27, 'Singapore', 'Singapore', 57_000],
  [30, 'Japan', 'Japan', 39_000],
];

const independents: readonly (readonly [name: string, country: string, monthly: number])[] = [
  ['Northquay Imports', 'United Kingdom', 83_000],
  ['Solano Distribuidora', 'Mexico', 61_000],
  ['Fjordvik Supply', 'Norway', 52_000],
  ['Kestrel Wholesale', 'Australia', 47_000],
  ['Lindenhof Handel', 'Austria', 33_000],
  ['Maplecrest Trading', 'Canada', 29_000],
];

const parentName = (parentId: number): string => homeNames[parentId - 1] ?? '';

export const sampleCustomers: readonly SampleCustomer[] = [
  ...home,
  ...subsidiaries.map(([parentId, suffix, country, monthly], index) => ({
    id: 101 + index,
    name: `${parentName(parentId)} ${suffix}`,
    country,
    region: 'overseas' as const,
    parentId,
    monthly,
  })),
  ...independents.map(([name, country, monthly], index) => ({
    id: 201 + index,
    name,
    country,
    region: 'overseas' as const,
    parentId: null,
    monthly,
  })),
];
