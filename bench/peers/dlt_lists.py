"""Reads seven lists of a sandbox into DuckDB with the rest_api source of dlt. tools.ts calls it:

python dlt_lists.py default|tuned       with FOLDER, and what names the sandbox, in the environment

default: what the documentation of rest_api shows: merge by key, and the changed contacts only.
tuned: as somebody who knows dlt and the account would: files of Parquet, nothing nested deeper than one level, money as
declared, and each list that has no filter by date is replaced.
"""

import os
import sys
from datetime import datetime

os.environ.update(RUNTIME__DLTHUB_TELEMETRY="false", RUNTIME__LOG_LEVEL="ERROR")

import dlt
from dlt.sources.helpers.rest_client.auth import BearerTokenAuth
from dlt.sources.helpers.rest_client.paginators import BasePaginator, OffsetPaginator
from dlt.sources.rest_api import rest_api_source


class AfterLast(BasePaginator):
    """The next page begins after the last record of this one. The paginators of dlt carry one value as it was sent."""

    def __init__(self, limit, place):
        super().__init__()
        self.limit = limit
        self.place = place

    def update_state(self, response, data=None):
        self.last = data[-1] if data else None
        self._has_next_page = len(data or []) == self.limit

    def update_request(self, request):
        # dlt calls this after the last page as well.
        if self._has_next_page:
            self.place(request, self.last)


def after_contact(request, last):
    request.json = {**request.json, "searchAfter": last["searchAfter"]}


def after_opportunity(request, last):
    created = datetime.fromisoformat(last["createdAt"])
    request.params = {
        **request.params,
        "startAfter": round(created.timestamp() * 1000),
        "startAfterId": last["id"],
    }


def after_conversation(request, last):
    sent = datetime.fromisoformat(last["lastMessageDate"])
    request.params = {**request.params, "startAfterDate": round(sent.timestamp() * 1000)}


def offsets(parameter, total):
    return OffsetPaginator(limit=100, offset=0, offset_param=parameter, total_path=total)


def endpoint(path, selector, paginator, **more):
    return {"path": path, "data_selector": selector, "paginator": paginator, **more}


def resources(location, company):
    here = {"locationId": location}
    alt = {"altId": location, "altType": "location"}
    since = {
        "field": "dateUpdated",
        "operator": "range",
        "value": {"gte": "{incremental.start_value}"},
    }
    contacts = endpoint(
        "contacts/search",
        "contacts",
        AfterLast(500, after_contact),
        method="POST",
        json={**here, "pageLimit": 500, "filters": [since]},
        incremental={"cursor_path": "dateUpdated", "initial_value": "2000-01-01T00:00:00.000Z"},
    )
    opportunities = endpoint(
        "opportunities/search",
        "opportunities",
        AfterLast(100, after_opportunity),
        params={**here, "limit": 100},
    )
    conversations = endpoint(
        "conversations/search",
        "conversations",
        AfterLast(100, after_conversation),
        params={**here, "limit": 100, "sortBy": "last_message_date", "sort": "desc"},
    )
    return {
        "contacts": contacts,
        "opportunities": opportunities,
        "conversations": conversations,
        "users": endpoint("users/search", "users", offsets("skip", "count"), params={**here, "companyId": company}),
        "calendars": endpoint("calendars/", "calendars", "single_page", params=here),
        "invoices": endpoint("invoices/", "invoices", offsets("offset", "total"), params=alt),
        "orders": endpoint("payments/orders", "data", offsets("offset", "totalCount"), params=alt),
    }


MONEY = {"opportunities": ["monetaryValue"], "invoices": ["total", "amountDue"], "orders": ["amount"]}


def described(name, of, tuned):
    resource = {
        "name": name,
        "endpoint": of,
        "primary_key": "_id" if name in ("invoices", "orders") else "id",
        "write_disposition": "replace" if tuned and name != "contacts" else "merge",
    }
    if tuned:
        resource["max_table_nesting"] = 1
        resource["columns"] = {column: {"data_type": "double"} for column in MONEY.get(name, [])}
    return resource


def main(tuned):
    url, token, location, company, folder = (
        os.environ[name] for name in ("URL", "TOKEN", "LOCATION", "COMPANY", "FOLDER")
    )
    source = rest_api_source(
        {
            "client": {"base_url": url, "headers": {"Version": "v3"}, "auth": BearerTokenAuth(token)},
            "resources": [described(name, of, tuned) for name, of in resources(location, company).items()],
        }
    )
    pipeline = dlt.pipeline(
        "lists",
        pipelines_dir=f"{folder}/state",
        destination=dlt.destinations.duckdb(f"{folder}/result.duckdb"),
        dataset_name="crm",
    )
    pipeline.run(source, **({"loader_file_format": "parquet"} if tuned else {}))


if __name__ == "__main__":
    main(sys.argv[1] == "tuned")
