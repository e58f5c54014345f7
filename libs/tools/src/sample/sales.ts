import { escapeLiteral } from 'pg';
import { sampleCustomers } from './customers';

/**
 * A year and a half of sales of a Korean company, for the demo and for trying out. Its "today" is fixed, and nothing in it is random, so
 * that an answer can be checked years from now. Two or three sales a customer and month, each near its share of the customer's ordinary
 * month. Loaded once: a second run changes nothing.
 */
export const salesSampleToday = '2026-06-15';

export function salesSampleSql(): string {
  return `${tables}
insert into customers (id, name, country, region, parent_id)
select id, name, country, region, parent_id from (values
${sampleCustomers.map((customer) => `  (${customerRow(customer)})`).join(',\n')}
) as customer (id, name, country, region, parent_id)
where not exists (select from customers);

insert into sales (id, customer_id, sold_on, amount, channel)
select row_number() over (order by sold_on, customer_id, part), customer_id, sold_on, amount, region
  from (select c.id as customer_id, part, c.region,
               (month + (2 + (c.id * 5 + part * 9 + extract(month from month)::int * 3) % 25) * interval '1 day')::date as sold_on,
               round(size.monthly / parts
                     * (95 + (c.id * 37 + extract(month from month)::int * 61 + part * 23) % 11) / 100.0
                     * (1 + 0.012 * (extract(year from month)::int * 12 + extract(month from month)::int - 24301)), 2) as amount
          from (values ${sampleCustomers.map(({ id, monthly }) => `(${id}, ${monthly})`).join(', ')}) as size (id, monthly)
          join customers c using (id)
         cross join generate_series(timestamp '2025-01-01', timestamp '2026-06-01', interval '1 month') as month
         cross join lateral (select 2 + c.id % 2 as parts) as p
         cross join lateral generate_series(1, parts) as part) as sale
 where sold_on <= date '${salesSampleToday}' and not exists (select from sales);
`;
}

const customerRow = ({ id, name, country, region, parentId }: (typeof sampleCustomers)[number]): string =>
  [id, escapeLiteral(name), escapeLiteral(country), escapeLiteral(region), parentId ?? 'null::int'].join(', ');

const tables = `
create table if not exists customers (
  id int primary key,
  name text not null,
  country text not null,
  region text not null check (region in ('domestic', 'overseas')),
  parent_id int references customers (id)
);
create table if not exists sales (
  id int primary key,
  customer_id int not null references customers (id),
  sold_on date not null,
  amount numeric(12, 2) not null,
  channel text not null check (channel in ('domestic', 'overseas'))
);
create index if not exists sales_sold_on on sales (sold_on);

comment on schema public is
  'Sales of a company in South Korea, from January 2025 on. today is ${salesSampleToday} in this data; do not use current_date.';
comment on table customers is 'Customers at home and overseas';
comment on column customers.region is 'domestic: in South Korea; overseas: anywhere else';
comment on column customers.parent_id is 'Of an overseas subsidiary: the domestic customer that owns it';
comment on table sales is 'One row a sale';
comment on column sales.customer_id is 'The customer who bought: a subsidiary''s sales stand under its own id, not its parent''s';
comment on column sales.amount is 'US dollars, net';
comment on column sales.channel is 'domestic: sold in South Korea; overseas: sold abroad';
`;
