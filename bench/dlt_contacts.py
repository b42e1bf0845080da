"""Loads the contacts of a sandbox into DuckDB with dlt. bench/side-by-side.ts calls it:

python dlt_contacts.py versions
python dlt_contacts.py run      with FOLDER, WORKERS, and what names the sandbox, in the environment
python dlt_contacts.py count    the rows it wrote, as JSON
"""

import json
import os
import sys

os.environ.update(
    RUNTIME__DLTHUB_TELEMETRY="false",
    RUNTIME__LOG_LEVEL="ERROR",
    # With two workers, one process for each core, it is fastest; with one it costs least CPU. Files are so small that each
    # process gets some.
    NORMALIZE__WORKERS=os.environ.get("WORKERS", "2"),
    EXTRACT__DATA_WRITER__FILE_MAX_ITEMS="10000",
    DATA_WRITER__BUFFER_MAX_ITEMS="20000",
    DATA_WRITER__DISABLE_COMPRESSION="true",
)

import dlt
import duckdb
import orjson
import requests

PAGE = 500


def run(url: str, token: str, location: str, folder: str) -> None:
    session = requests.Session()
    session.headers.update({"Authorization": f"Bearer {token}", "Version": "v3", "User-Agent": "bench"})

    # Lists nested deeper than tags and custom fields stay JSON, as in sluice.
    @dlt.resource(name="contacts", primary_key="id", write_disposition="merge", max_table_nesting=1)
    def contacts():
        body = {"locationId": location, "pageLimit": PAGE}
        while True:
            answer = session.post(f"{url}/contacts/search", json=body)
            answer.raise_for_status()
            page = orjson.loads(answer.content)["contacts"]
            # The paging needs it; dlt would make a table of it.
            cursors = [contact.pop("searchAfter") for contact in page]
            yield page
            if len(page) < PAGE:
                return
            body["searchAfter"] = cursors[-1]

    pipeline = dlt.pipeline(
        "contacts",
        pipelines_dir=f"{folder}/state",
        destination=dlt.destinations.duckdb(f"{folder}/dlt.duckdb"),
        dataset_name="crm",
    )
    pipeline.run(contacts(), loader_file_format="parquet")


def count(folder: str) -> None:
    with duckdb.connect(f"{folder}/dlt.duckdb", read_only=True) as database:
        tables = ["contacts", "contacts__tags", "contacts__custom_fields"]
        print(json.dumps([database.execute(f"SELECT count(*) FROM crm.{table}").fetchone()[0] for table in tables]))


# Its worker processes import this file too.
if __name__ == "__main__":
    if sys.argv[1] == "versions":
        print(f"dlt {dlt.__version__}, duckdb {duckdb.__version__}, Python {sys.version.split()[0]}")
    elif sys.argv[1] == "count":
        count(os.environ["FOLDER"])
    else:
        run(*(os.environ[name] for name in ("SLUICE_BASE_URL", "SLUICE_TOKEN", "SLUICE_LOCATION_ID", "FOLDER")))
