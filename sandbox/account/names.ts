/** Names and words of the seeded records: the customers and trade of a small renovation and garden business. */
export const firstNames = (
  "Ada Adaeze Ahmed Aiko Alma Amara Ana Andre Anja Arjun Astrid Ayşe Beatriz Ben Björn Bruno Callum Camille Carla Chen " +
  "Chloé Clara Daniel Darius Dmitri Edda Elena Elif Emeka Emma Erik Esther Fatima Felix Fiona Freya Gita Grace Greta " +
  "Hana Hannah Hector Ida Imran Ingrid Isla Ivan Jamal James Jana Javier Jonas José Julia Kai Karim Katya Kofi Lars " +
  "Laura Leila Lena Liam Lucía Łukasz Maeve Malik Marco María Marta Mateo Maya Mei Mia Milan Mina Mohammed Nadia Naomi " +
  "Nell Nia Nikhil Noah Noor Olga Oliver Omar Oona Otto Pablo Petra Priya Quinn Rafael Rania Remy Rosa Ruth Sam Sanjay " +
  "Sara Selma Sean Siobhán Sofia Stefan Susan Tariq Tess Theo Thảo Tilda Tomás Uma Vera Victor Wanda Wei Xavier Yara " +
  "Yuki Yusuf Zara Zoë"
).split(" ")

export const lastNames = (
  "Abbott Adeyemi Alvarez Andersen Bach Baker Banerjee Becker Bennett Berg Bianchi Björk Boateng Brandt Brennan Brooks " +
  "Byrne Carter Castillo Chaudhry Cohen Costa Cruz D'Angelo Dahl Daly Delgado Diaz Dubois Dvořák Eriksen Farah Fischer " +
  "Fontaine Foster García Gill Goldberg Gómez Grant Green Gupta Haddad Hall Hansen Hayes Hoffmann Holm Hughes Ibrahim " +
  "Ito Ivanov Jansen Jensen Jones Kaplan Kaur Keller Kelly Kim Klein Kowalski Kumar Lam Larsen Le Lee Lehmann Lindqvist " +
  "Lopez MacLeod Maier Mancini Martin Mbeki Meyer Moreau Moreno Müller Murphy Nakamura Ndiaye Nguyễn Nielsen Novak " +
  "O'Brien Okafor Olsen Ortiz Osei Park Patel Pereira Petrov Price Quist Rahman Ramírez Rao Reed Reyes Ricci Roberts " +
  "Rossi Ruiz Ryan Sato Schmidt Schneider Shah Silva Singh Smith-Hale Sørensen Soto Suzuki Tanaka Taylor Thomas Torres " +
  "Tran Tremblay Turner Usman Vargas Vega Virtanen Vogel Wagner Walsh Wang Weber West White Winter Wolf Wright Yamada " +
  "Yılmaz Young Zhang Ziegler"
).split(" ")

export const companies = (
  "Alder & Sons|Bayside Dental|Blue Door Rentals|Brightwater School|Café Linden|Cedar Court HOA|Copper Kettle Inn|" +
  "Elm Street Yoga|Fern & Fable Books|Foxglove Florist|Greenway Clinic|Harvest Table, LLC|Hillside Vets|Juniper Studio|" +
  'Kestrel Architects|Lakeview Apartments|Maple Row Bakery|Meridian Law|North Pier Fishing Co.|Oak "The Barn" Events|' +
  "Orchard Daycare|Quarry Lane Gym|Ridgeline Realty|Saltbox Design|Sparrow Coffee|St. Mary's Parish|Sunrise Senior Living|" +
  "Tidewater Marine|Union Hall Theatre|Willow Creek Farm"
).split("|")

/** City, state, postal code stem, country, time zone. */
export const places: ReadonlyArray<readonly [string, string, string, string, string]> = [
  ["Portland", "ME", "041", "US", "America/New_York"],
  ["Burlington", "VT", "054", "US", "America/New_York"],
  ["Providence", "RI", "029", "US", "America/New_York"],
  ["Madison", "WI", "537", "US", "America/Chicago"],
  ["Santa Fe", "NM", "875", "US", "America/Denver"],
  ["Eugene", "OR", "974", "US", "America/Los_Angeles"],
  ["Halifax", "NS", "B3H", "CA", "America/Halifax"],
  ["Montréal", "QC", "H2X", "CA", "America/Toronto"],
  ["Bristol", "England", "BS1", "GB", "Europe/London"],
  ["Galway", "Connacht", "H91", "IE", "Europe/Dublin"],
  ["Köln", "NRW", "506", "DE", "Europe/Berlin"]
]

export const streets = (
  "Alder Ave|Beacon St|Birch Ln|Canal Rd|Chestnut St|Church St|Cliff Rd|Dock St|Elm St|Ferry Rd|Forest Ave|Hill Rd|" +
  "Lake Dr|Maple Ave|Mill Ln|Orchard St|Pine St|Quarry Rd|River Rd|School St|Spruce Ct|Union St|Water St|Willow Way"
).split("|")

export const tags = (
  "newsletter|past customer|vip|kitchen|bath|deck|garden|estimate sent|do not call|referral|spring promo|home show 2024|" +
  "commercial|follow up|repeat|überraschung|price shopper|financing|no-show|Facebook lead"
).split("|")

export const sources =
  "website form|referral|home show|google ads|walk-in|facebook lead ad|yard sign|import 2023".split("|")

export const projects = (
  "Kitchen remodel|Deck staining|Bathroom refresh|Raised garden beds|Patio and pergola|Basement finishing|Fence repair|" +
  "Spring clean-up|Window replacement|Rain garden|Mudroom built-ins|Roof over porch|Irrigation system|Interior painting"
).split("|")

/** Product and unit price. */
export const products: ReadonlyArray<readonly [string, number]> = [
  ["Cedar decking board, 8 ft", 24.5],
  ["Eggshell paint, 1 gal", 46.99],
  ["Raised bed kit, 4x8", 189],
  ["Pergola kit", 2450],
  ["Drip irrigation starter", 74.25],
  ["Deck stain, natural", 52.1],
  ["Design consultation", 150],
  ["Compost, cubic yard", 48],
  ["Cabinet hardware set", 119.4],
  ["Spring clean-up visit", 325]
]
